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

interface Hold {
  readonly session: Session;
  readonly refusal: JsonObject;
  /** It holds steers back. */
  holding: boolean;
  /** The agent has its answer from us; the client's is not wanted any more. */
  answered: boolean;
}

/** The open requests of one connection. */
export interface Holds {
  open(id: Id, session: Session, refusal: JsonObject): void;
  /** The client answered; says whether the answer goes on, and in which session steers were held until now. */
  answered(id: Id): { readonly wanted: boolean; readonly held: Session | undefined };
  /** The agent took its request back; says in which session steers were held until now. */
  withdrawn(id: Id): Session | undefined;
  /** Answers what is open in a session, and tells the client that nothing is asked any more. */
  release(session: Session): void;
}

export function createHolds({ toClient, toAgent }: Pick<Link, "toClient" | "toAgent">): Holds {
  const holds = new Map<Id, Hold>();
  const letGo = (hold: Hold | undefined): Session | undefined => {
    if (!hold?.holding) return undefined;
    hold.holding = false;
    return hold.session;
  };
  return {
    open: (id, session, refusal) => holds.set(id, { session, refusal, holding: true, answered: false }),
    answered: (id) => {
      const hold = holds.get(id);
      holds.delete(id);
      return { wanted: !hold?.answered, held: letGo(hold) };
    },
    withdrawn: (id) => letGo(holds.get(id)),
    release: (session) => {
      for (const [id, hold] of holds) {
        if (hold.session !== session || hold.answered) continue;
        letGo(hold);
        hold.answered = true;
        toClient({ method: METHOD.cancelRequest, params: { requestId: id } });
        toAgent({ id: id as RequestId, ...hold.refusal });
      }
    },
  };
}
