import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { recordOf } from "@acp-steering/kit/adapter";
import type { WireClient } from "@acp-steering/testkit";
import { onTestFinished } from "vitest";

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

/** An empty folder, for as long as the test runs. */
export async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "acp-steering-dialect-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));
  return folder;
}
