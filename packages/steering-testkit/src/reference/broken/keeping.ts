import type { WireMessage } from "@acp-steering/core";
import { METHOD } from "@acp-steering/core/protocol";
import type { Fault } from "./broken-agent.js";
import { withSteers } from "./messages.js";
import type { SeenRequest, SeenSession, SeenSteer } from "./watch.js";

/**
 * An agent that finds steers left over and puts them into the next prompt of their session.
 *
 * @param leftovers which ones are kept when this answer goes to the client
 */
export function keeping(leftovers: (message: WireMessage, answered: SeenRequest) => readonly SeenSteer[]): Fault {
  const kept = new Map<SeenSession, readonly SeenSteer[]>();
  return {
    fromAgent: (message, wire, answered) => {
      const steers = answered ? leftovers(message, answered) : [];
      if (answered?.session && steers.length > 0) kept.set(answered.session, steers);
      wire.toClient(message);
    },
    fromClient: (message, wire, request) => {
      const { session, method } = request ?? {};
      if (method !== METHOD.prompt || !session) return wire.toAgent(message);
      wire.toAgent(withSteers(message, kept.get(session) ?? []));
      kept.delete(session);
    },
  };
}
