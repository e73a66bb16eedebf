/**
 * The permission and elicitation requests of an agent that its client has not answered. While one is open in a turn,
 * steers are held back; when the turn ends or is cancelled first, the layer answers in place of the client (spec §4).
 */
import { requestCancelled } from "./errors.js";
import { type JsonObject, METHOD, type WireMessage } from "./protocol.js";

/** How a request of the agent is answered in place of the client once the turn is being cancelled. */
export const REFUSALS: ReadonlyMap<string, JsonObject> = new Map<string, JsonObject>([
  [METHOD.permission, { result: { outcome: { outcome: "cancelled" } } }],
  [METHOD.elicitation, { result: { action: "cancel" } }],
  [METHOD.writeFile, { error: requestCancelled }],
  [METHOD.createTerminal, { error: requestCancelled }],
]);

/** Ids as they stand in messages; maps go by type and value. */
export type Id = WireMessage["id"];
