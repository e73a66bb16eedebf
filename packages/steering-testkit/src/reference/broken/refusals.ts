import type { WireMessage } from "@acp-steering/core";
import { CODE, METHOD } from "@acp-steering/core/protocol";
import type { BrokenAgent } from "./broken-agent.js";
import { textAt, withAt } from "./json.js";
import { answers, IN_PARAMS, promptRequired } from "./messages.js";

const KNOWN_BEHAVIORS = ["", "promptRequired", "startNewTurn"];

/** Agents that take what has to be refused, or do something about it. */
export const LENIENT_AGENTS: readonly BrokenAgent[] = [
  {
    requirement: "error.session",
    what: "answers a steer in an unknown session `promptRequired`",
    apply: () => ({
      fromClient: (message, wire, request) => {
        const isUnknown = request?.method === METHOD.steering && !request.session && request.params["sessionId"];
        if (isUnknown && typeof isUnknown === "string") wire.toClient(promptRequired(message));
        else wire.toAgent(message);
      },
    }),
  },
  {
    requirement: "error.malformed",
    what: "does not mind an `idleBehavior` that it does not know",
    apply: () => ({
      fromClient: (message, wire, request) => {
        const path = [...IN_PARAMS, "idleBehavior"];
        const isUnknown = request?.steer && !KNOWN_BEHAVIORS.includes(textAt(message, ...path));
        wire.toAgent(isUnknown ? withAt(message, path, undefined) : message);
      },
    }),
  },
  {
    requirement: "error.notification",
    what: "takes a steer that has no id",
    apply: () => {
      const mine = new Set<WireMessage["id"]>();
      return {
        fromClient: (message, wire, request) => {
          if (!request?.steer || message.id !== undefined) return wire.toAgent(message);
          const id = `unasked-${crypto.randomUUID()}`;
          mine.add(id);
          wire.toAgent({ ...message, id });
        },
        fromAgent: (message, wire) => {
          if (message.method !== undefined || !mine.delete(message.id)) wire.toClient(message);
        },
      };
    },
  },
  {
    requirement: "error.path",
    what: "does not say which field of a steer is malformed",
    apply: () => ({
      fromAgent: (message, wire, answered) => {
        const isRefusal = answers(answered, METHOD.steering) && message.error?.code === CODE.invalidParams;
        wire.toClient(isRefusal ? withAt(message, ["error", "data"], undefined) : message);
      },
    }),
  },
  {
    requirement: "hold.allowed",
    what: "takes its permission request back when a steer comes",
    apply: () => ({
      fromClient: (message, wire, request) => {
        const question = request?.steer?.question;
        if (question) wire.toClient(withdrawal(question.id));
        wire.toAgent(message);
      },
    }),
  },
];

const withdrawal = (requestId: unknown): WireMessage => ({
  jsonrpc: "2.0",
  method: METHOD.cancelRequest,
  params: { requestId },
});
