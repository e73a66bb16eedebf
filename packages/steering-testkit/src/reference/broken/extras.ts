import type { WireMessage } from "@acp-steering/core";
import { METHOD } from "@acp-steering/core/protocol";
import type { BrokenAgent, Fault } from "./broken-agent.js";
import { objectAt, textAt, withAt } from "./json.js";
import { answers, IN_PARAMS, IN_RESULT, without } from "./messages.js";
import { endPrompt, type SeenSteer } from "./watch.js";

const receiptState = ({ method, params }: WireMessage): unknown =>
  method === METHOD.receipt ? objectAt(params)["state"] : undefined;

/** Changes what goes to the client, or leaves it out. */
const toClient = (change: (message: WireMessage) => readonly WireMessage[]): Fault => ({
  fromAgent: (message, wire) => {
    for (const changed of change(message)) wire.toClient(changed);
  },
});

/** Changes the answers to steers. */
const answersToSteers = (change: (message: WireMessage) => WireMessage): Fault => ({
  fromAgent: (message, wire, answered) =>
    wire.toClient(answers(answered, METHOD.steering) && message.result ? change(message) : message),
});

/** Changes what comes from the client. */
const toAgent = (change: (message: WireMessage) => WireMessage): Fault => ({
  fromClient: (message, wire) => wire.toAgent(change(message)),
});

/** Agents that fall short of what is not a must: names, receipts, revoke, commands. */
export const CARELESS_AGENTS: readonly BrokenAgent[] = [
  {
    requirement: "G5.policy",
    what: "advertises another idle policy than it has",
    apply: () => ({
      fromAgent: (message, wire, answered) => {
        const path = [...IN_RESULT, "idleBehavior"];
        wire.toClient(answers(answered, METHOD.initialize) ? withAt(message, path, "reject") : message);
      },
    }),
  },
  {
    requirement: "result.names",
    what: "does not give a `clientMessageId` back",
    apply: () => answersToSteers((message) => withAt(message, [...IN_RESULT, "clientMessageId"], undefined)),
  },
  {
    requirement: "result.repeat",
    what: "takes a repeat for a steer of its own",
    apply: () => {
      const seen = new Set<string>();
      return toAgent((message) => {
        const path = [...IN_PARAMS, "clientMessageId"];
        const clientMessageId = textAt(message, ...path);
        if (clientMessageId === "" || message.method !== METHOD.steering) return message;
        if (!seen.has(clientMessageId)) {
          seen.add(clientMessageId);
          return message;
        }
        return withAt(message, path, `${clientMessageId}, again`);
      });
    },
  },
  {
    requirement: "result.expected",
    what: "does not mind which turn a steer is for",
    apply: () =>
      toAgent((message) => {
        const path = [...IN_PARAMS, "expectedTurnId"];
        return textAt(message, ...path) === "" ? message : withAt(message, path, undefined);
      }),
  },
  {
    requirement: "receipt.turn",
    what: "does not report the begin of a turn",
    apply: () => toClient((message) => (receiptState(message) === "turnStarted" ? [] : [message])),
  },
  {
    requirement: "receipt.delivered",
    what: "reports a delivered steer twice",
    apply: () => toClient((message) => (receiptState(message) === "delivered" ? [message, message] : [message])),
  },
  {
    requirement: "receipt.undelivered",
    what: "does not hand back a steer that was not delivered",
    apply: () =>
      toClient((message) => [
        receiptState(message) === "undelivered" ? withAt(message, ["params", "prompt"], undefined) : message,
      ]),
  },
  {
    requirement: "report.owner",
    what: "does not tell the owner of the runs of a steered turn",
    apply: () =>
      toClient((message) => [
        objectAt(message, ...IN_RESULT)["runs"] ? withAt(message, [...IN_RESULT, "runs"], undefined) : message,
      ]),
  },
  {
    requirement: "echo.once",
    what: "shows a delivered steer twice",
    apply: () =>
      toClient((message) => {
        const isEcho = textAt(message, "params", "update", "sessionUpdate") === "user_message_chunk";
        return isEcho ? [message, message] : [message];
      }),
  },
  {
    requirement: "revoke.pending",
    what: "delivers a steer that was revoked",
    apply: () => {
      const mine = new Set<WireMessage["id"]>();
      return {
        fromAgent: (message, wire, answered) => {
          if (message.method === undefined && mine.delete(message.id)) return;
          const { params, session } = answered ?? {};
          const steer = session?.steers.find(({ messageId }) => messageId === params?.["messageId"]);
          if (steer && answers(answered, METHOD.revoke) && !message.error) {
            const id = `revoked-${crypto.randomUUID()}`;
            mine.add(id);
            wire.toAgent({ jsonrpc: "2.0", id, method: METHOD.steering, params: steer.params });
          }
          wire.toClient(message);
        },
      };
    },
  },
  {
    requirement: "revoke.late",
    what: "says of a steer that there never was that it is revoked",
    apply: () => ({
      fromAgent: (message, wire, answered) => {
        const isUnknown =
          answers(answered, METHOD.revoke) && textAt(message, "error", "data", "reason") === "unknownMessage";
        wire.toClient(isUnknown ? { jsonrpc: "2.0", id: message.id ?? null, result: {} } : message);
      },
    }),
  },
  {
    requirement: "start.turn",
    what: "does not begin a turn with a steer that asks for it",
    apply: () =>
      toAgent((message) => {
        const path = [...IN_PARAMS, "idleBehavior"];
        return textAt(message, ...path) === "startNewTurn" ? withAt(message, path, undefined) : message;
      }),
  },
  {
    requirement: "command.steer",
    what: "answers `/steer` and forgets its text",
    apply: () => ({
      fromClient: (message, wire, request) => {
        const { prompt } = objectAt(message, "params");
        const isCommand = request?.cameBusy && JSON.stringify(prompt).includes('"/steer ');
        if (!isCommand || !request.session) return wire.toAgent(message);
        endPrompt(request.session);
        wire.toClient({ jsonrpc: "2.0", id: message.id ?? null, result: { stopReason: "end_turn" } });
      },
    }),
  },
  {
    requirement: "driver.boundary",
    what: "shows a steer that came while a tool ran one step late",
    apply: ({ watch, askModel }) => {
      const late = new Set<SeenSteer>();
      return {
        ask: async (question) => {
          const steers = watch.at(question.sessionId)?.steers ?? [];
          const fresh = steers.filter((steer) => steer.moment === "working" && !late.has(steer));
          for (const steer of fresh) late.add(steer);
          const answer = await askModel({ ...question, messages: without(question.messages, fresh) });
          return fresh.length === 0 || answer.message.tool_calls ? answer : askModel(question);
        },
      };
    },
  },
];
