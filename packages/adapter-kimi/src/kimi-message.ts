import { randomUUID } from "node:crypto";

/** An id that Kimi has not seen. */
export function newMessageId(): string {
  return `msg_${randomUUID()}`;
}
