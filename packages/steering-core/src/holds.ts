/**
 * The permission and elicitation requests of an agent that its client has not answered. While one is open in a turn,
 * steers are held back; when the turn ends or is cancelled first, the layer answers in place of the client (spec §4).
 */
import { requestCancelled } from "./errors.js";
import type { Link, Session } from "./hub.js";
import { type JsonObject, METHOD, type RequestId, type WireMessage } from "./protocol.js";

/** How a request of the agent is answered in place of the client once the turn is being cancelled. */
export const REFUSALS: ReadonlyMap<string, JsonObject> = new Map<string, JsonObject>([
  [METHOD.permission, { result: { outcome: { outcome: "cancelled" } } }],
  [METHOD.elicitation, { result: { action: "cancel" } }],
  [METHOD.writeFile, { error: requestCancelled }],
  [METHOD.createTerminal, { error: requestCancelled }],
]);

/** Ids as they stand in messages; maps go by type and value. */
export type Id = WireMessage["id"];

/** The open requests of one connection. */
export interface Holds {
  open(id: Id, session: Session, refusal: JsonObject): void;
  /** The client answered, or the agent took its request back. */
  end(id: Id): void;
  /** Whether the agent had its answer from us. Asked once, when the client's comes. */
  wasReleased(id: Id): boolean;
  /** Answers what is open in a session, and tells the client that nothing is asked any more. */
  release(session: Session): void;
}

/** @param ended is told of each hold of a session that does not end by its release */
export function createHolds(
  { toClient, toAgent }: Pick<Link, "toClient" | "toAgent">,
  ended: (session: Session) => void,
): Holds {
  const holds = new Map<Id, { readonly session: Session; readonly refusal: JsonObject }>();
  const released = new Set<Id>();
  return {
    open: (id, session, refusal) => holds.set(id, { session, refusal }),
    end: (id) => {
      const hold = holds.get(id);
      holds.delete(id);
      if (hold) ended(hold.session);
    },
    wasReleased: (id) => released.delete(id),
    release: (session) => {
      for (const [id, hold] of holds) {
        if (hold.session !== session) continue;
        holds.delete(id);
        released.add(id);
        toClient({ method: METHOD.cancelRequest, params: { requestId: id } });
        toAgent({ id: id as RequestId, ...hold.refusal });
      }
    },
  };
}
