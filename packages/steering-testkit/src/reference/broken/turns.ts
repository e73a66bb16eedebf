import type { WireMessage } from "@acp-steering/core";
import { CODE, METHOD } from "@acp-steering/core/protocol";
import { userMessage } from "../chat-message.js";
import type { BrokenAgent, Workings } from "./broken-agent.js";
import { textAt, withAt } from "./json.js";
import { keeping } from "./keeping.js";
import { answers, IN_RESULT, promptRequired } from "./messages.js";
import { endPrompt, type SeenRequest, type SeenSession } from "./watch.js";

const detailOf = (message: WireMessage): string => textAt(message, ...IN_RESULT, "detail");

/** Agents that are wrong about what runs: idle, cancelled, failed, closed. */
export const CONFUSED_AGENTS: readonly BrokenAgent[] = [
  {
    requirement: "G5.answer",
    what: "gives a reason of its own for `promptRequired`",
    apply: () => ({
      fromAgent: (message, wire, answered) => {
        const isIdle = answers(answered, METHOD.steering) && detailOf(message) === "idle";
        wire.toClient(isIdle ? withAt(message, ["result", "reason"], "idle") : message);
      },
    }),
  },
  {
    requirement: "G5.nothing",
    what: "keeps a steer that it answered `promptRequired` for the next prompt",
    apply: () => keeping((message, { steer }) => (steer && detailOf(message) === "idle" ? [steer] : [])),
  },
  {
    requirement: "G6.steer-cancel",
    what: "keeps the steers that a cancel has overtaken for the next prompt",
    apply: () =>
      keeping((_, answered) => {
        const { session } = answered;
        if (!answers(answered, METHOD.prompt) || !session?.isCancelled) return [];
        return session.turnSteers.filter(({ outcome }) => outcome === "injected");
      }),
  },
  {
    requirement: "G6.cancel-steer",
    what: "answers a steer behind a cancel `injected`",
    apply: () => ({
      fromAgent: (message, wire, answered) => {
        const isLate = answers(answered, METHOD.steering) && detailOf(message) === "cancelling";
        wire.toClient(isLate ? withAt(message, ["result", "outcome"], "injected") : message);
      },
    }),
  },
  {
    requirement: "G6.idle",
    what: "takes a cancel while idle for one of the next prompt",
    apply: () => {
      const poisoned = new Set<SeenSession>();
      return {
        fromClient: (message, wire, request) => {
          const { session, method } = request ?? {};
          if (!session) return wire.toAgent(message);
          if (method === METHOD.cancel && session.openPrompts === 0) poisoned.add(session);
          if (method !== METHOD.prompt || !poisoned.delete(session)) return wire.toAgent(message);
          endPrompt(session);
          wire.toClient({ jsonrpc: "2.0", id: message.id ?? null, result: { stopReason: "cancelled" } });
        },
      };
    },
  },
  {
    requirement: "G6.next",
    what: "takes no steer in the turn after a cancelled one",
    apply: () => {
      const cancelledTurns = new Map<SeenSession, number>();
      return {
        fromClient: (message, wire, request) => {
          const { session, steer, method } = request ?? {};
          if (session && method === METHOD.cancel) cancelledTurns.set(session, session.turn);
          const isAfter = session && cancelledTurns.get(session) === session.turn - 1;
          if (steer && isAfter) wire.toClient(promptRequired(message));
          else wire.toAgent(message);
        },
      };
    },
  },
  {
    requirement: "G8.model-fails",
    what: "refuses every prompt after a steered turn whose model failed",
    apply: () => {
      const dead = new Set<SeenSession>();
      return {
        fromAgent: (message, wire, answered) => {
          const { session } = answered ?? {};
          const isFailure = answers(answered, METHOD.prompt) && message.error !== undefined;
          if (session && isFailure && session.turnSteers.length > 0) dead.add(session);
          wire.toClient(message);
        },
        fromClient: (message, wire, request) => {
          const { session, method } = request ?? {};
          if (!session || method !== METHOD.prompt || !dead.has(session)) return wire.toAgent(message);
          endPrompt(session);
          const error = { code: CODE.internalError, message: "reference-agent: this session has failed." };
          wire.toClient({ jsonrpc: "2.0", id: message.id ?? null, error });
        },
      };
    },
  },
  {
    requirement: "close.refused",
    what: "answers a steer in a closed session `promptRequired`",
    apply: () => ({
      fromClient: (message, wire, request) => {
        if (request?.steer && request.session?.isClosed) wire.toClient(promptRequired(message));
        else wire.toAgent(message);
      },
    }),
  },
  {
    requirement: "close.ends",
    what: "asks the model about the steers of a session that was closed",
    apply: ({ askModel }) => ({
      fromAgent: (message, wire, answered) => {
        wire.toClient(message);
        if (answers(answered, METHOD.closeSession)) void askAbout(answered, askModel).catch(() => {});
      },
    }),
  },
];

async function askAbout({ session, params }: SeenRequest, askModel: Workings["askModel"]): Promise<void> {
  if (!session || session.turnSteers.length === 0) return;
  await askModel({
    sessionId: String(params["sessionId"]),
    messages: session.turnSteers.map(({ prompt }) => userMessage(prompt)),
    signal: new AbortController().signal,
    onText: async () => {},
  });
}
