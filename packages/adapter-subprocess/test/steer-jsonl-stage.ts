import { fileURLToPath } from "node:url";
import type { WireClient } from "@acp-steering/testkit";
import { expect } from "vitest";
import { spawnAdapter, temporaryFolder } from "./stage.js";
import { type Command, schemaFaults, type Traffic, tapped, trafficIn } from "./steer-jsonl-wire.js";

const OBEDIENT = fileURLToPath(new URL("fixtures/obedient.mjs", import.meta.url));
const RECEIPTS = { _meta: { steering: { receipts: true } } };

export interface JsonlStage {
  readonly client: WireClient;
  readonly cwd: string;
  /** The result of `initialize`. */
  readonly initialized: Record<string, unknown>;
  readonly sessionId: string;
  /** Ends the adapter; gives what the agent has read and written, all of which fits the schema. */
  traffic(): Promise<Traffic>;
}

interface AgentOptions {
  readonly environment?: Record<string, string>;
  readonly cwd?: string;
  /** Default true. A tapped agent's end is not seen: the taps go on. */
  readonly isTapped?: boolean;
}

/** The built adapter with an agent that speaks steer-jsonl, without a session. */
export async function spawnAgent(agent: Command, options: AgentOptions = {}): Promise<Omit<JsonlStage, "sessionId">> {
  const { environment, cwd = await temporaryFolder(), isTapped = true } = options;
  const folder = await temporaryFolder();
  const client = await spawnAdapter(
    ["--dialect", "steer-jsonl", "--", ...(isTapped ? tapped(agent, folder) : agent)],
    environment,
  );
  const initialized = await client.initialize(RECEIPTS);
  const traffic = async (): Promise<Traffic> => {
    await client.close();
    const lines = await trafficIn(folder);
    expect(await schemaFaults(lines)).toEqual([]);
    return lines;
  };
  return { client, cwd, initialized, traffic };
}

/** The same, with a session. */
export async function openAgent(...given: Parameters<typeof spawnAgent>): Promise<JsonlStage> {
  const stage = await spawnAgent(...given);
  return { ...stage, sessionId: await stage.client.newSession(stage.cwd) };
}

/** An agent that writes what its prompts say. */
export function obedient(hello: Record<string, unknown> = {}): Command {
  return [process.execPath, OBEDIENT, JSON.stringify({ type: "hello", version: 1, ...hello })];
}

/** A prompt for it. */
export function script(...steps: Record<string, unknown>[]): string {
  return JSON.stringify(steps);
}

/** The receipts that the client got, as `state` or `state/reason`. */
export function receiptsOf({ log }: WireClient): string[] {
  return log.flatMap(({ direction, message }) => {
    if (direction !== "in" || message?.method !== "_session/steering/update") return [];
    const { state, reason } = message.params as { state: string; reason?: string };
    return [reason === undefined ? state : `${state}/${reason}`];
  });
}
