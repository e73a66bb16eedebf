import type { Steerable } from "@acp-steering/core";
import { type AskModel, chatModel, type ModelOptions } from "./chat-model.js";
import { driverAgent } from "./driver-agent.js";
import { inboxAgent } from "./inbox-agent.js";

/** How steers reach the agent's loop: it takes them itself, or a driver hands them to it. */
export type Road = "inbox" | "driver";

/** Both roads, by name. */
export const ROADS: Readonly<Record<Road, (askModel: AskModel) => Steerable>> = {
  inbox: inboxAgent,
  driver: driverAgent,
};

/** Which of the two reference agents, and the model it asks. */
export interface ReferenceAgentOptions extends ModelOptions {
  readonly road: Road;
}

/**
 * A small coding agent that keeps the whole contract (docs/contract.md), for tests and as an example: a model behind
 * OpenAI chat completions, one tool `shell` for which it asks permission, images, several sessions.
 *
 * A failing model answers the prompt with -32603; an unknown or closed session is -32002. Sessions live as long as the
 * process.
 *
 * @example
 * ```ts
 * const model = await startModelServer({ script: [{ text: "Hello." }] });
 * const client = WireClient.connect(referenceAgent({ road: "inbox", modelUrl: model.url }));
 * await client.initialize();
 * await client.prompt(await client.newSession(process.cwd()), "Hi").answer; // { stopReason: "end_turn" }
 * ```
 */
export function referenceAgent({ road, ...model }: ReferenceAgentOptions): Steerable {
  return ROADS[road](chatModel(model));
}
