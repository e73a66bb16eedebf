import { readFileSync } from "node:fs";
import { join } from "node:path";
import { recordOf } from "@acp-steering/kit/adapter";
import type { WireClient } from "@acp-steering/testkit";

/** The states in which the client was told a steer is, in order. */
export function statesOf(client: WireClient): unknown[] {
  return client.log
    .filter(({ message }) => message?.method === "_session/steering/update")
    .map(({ message }) => recordOf(message?.params)["state"])
    .filter((state) => state === "delivered" || state === "undelivered");
}

/** The process id that a command of the agent's has written into its folder. @throws Error where it has not yet */
export function pidIn(folder: string): number {
  const pid = Number(readFileSync(join(folder, "pid"), "utf8"));
  if (pid <= 1) throw new Error("not written yet");
  return pid;
}
