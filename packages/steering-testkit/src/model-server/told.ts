import type { ModelMessage } from "./request.js";

/**
 * Whether a message tells the model what the user or a tool has said: every one but the model's own, and the system
 * messages before all others. In one that comes later, an agent may pass on what its user said while it worked.
 *
 * @param messages the request's messages
 * @param index which of them
 */
export function isTold(messages: readonly ModelMessage[], index: number): boolean {
  const role = messages[index]?.role;
  if (role === "assistant") return false;
  return role !== "system" || messages.slice(0, index).some((earlier) => earlier.role !== "system");
}
