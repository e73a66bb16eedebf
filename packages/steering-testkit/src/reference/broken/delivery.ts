import { CODE, METHOD, REASON } from "@acp-steering/core/protocol";
import type { ChatMessage, ChatPart } from "../chat-message.js";
import type { BrokenAgent } from "./broken-agent.js";
import { withAt } from "./json.js";
import { keeping } from "./keeping.js";
import { answers, changeParts } from "./messages.js";
import type { SeenSteer } from "./watch.js";

const TOO_MANY = 32;
const LONG = 100_000;

const textsOf = (steers: readonly SeenSteer[]): Set<string> => new Set(steers.flatMap(({ texts }) => texts));

/** Agents that hand steers over twice, in disorder, cut, or to the wrong turn. */
export const MISDELIVERING_AGENTS: readonly BrokenAgent[] = [
  {
    requirement: "G2.once",
    what: "shows every steer to the model twice",
    apply: ({ watch, askModel }) => ({
      ask: (question) => {
        const texts = textsOf(watch.at(question.sessionId)?.steers ?? []);
        const double = (part: ChatPart): ChatPart[] =>
          part.type === "text" && texts.has(part.text) ? [part, part] : [part];
        return askModel({ ...question, messages: changeParts(question.messages, (parts) => parts.flatMap(double)) });
      },
    }),
  },
  {
    requirement: "G3.order",
    what: "takes the steers that wait from the wrong end",
    apply: ({ watch, askModel }) => ({
      ask: (question) => {
        const texts = textsOf(watch.at(question.sessionId)?.steers ?? []);
        return askModel({ ...question, messages: backwards(question.messages, texts) });
      },
    }),
  },
  {
    requirement: "G3.flood",
    what: `takes no more than ${TOO_MANY} steers in a turn`,
    apply: () => ({
      fromClient: (message, wire, request) => {
        if (!request?.steer || (request.session?.turnSteers.length ?? 0) <= TOO_MANY) return wire.toAgent(message);
        const data = { reason: REASON.tooManyPending };
        const error = { code: CODE.invalidRequest, message: "reference-agent: too many steers wait.", data };
        wire.toClient({ jsonrpc: "2.0", id: message.id ?? null, error });
      },
    }),
  },
  {
    requirement: "G7.turn",
    what: "keeps the steers of a turn whose model failed for the next one",
    apply: () =>
      keeping((message, answered) => {
        const hasFailed = answers(answered, METHOD.prompt) && message.error !== undefined;
        return hasFailed ? (answered.session?.turnSteers ?? []) : [];
      }),
  },
  {
    requirement: "G7.session",
    what: "shows a steer to the other sessions of the agent too",
    apply: ({ watch, askModel }) => {
      const shown = new Map<string, number>();
      return {
        ask: (question) => {
          const foreign = [...watch.sessions].flatMap(([id, { steers }]) => (id === question.sessionId ? [] : steers));
          const fresh = foreign.slice(shown.get(question.sessionId) ?? 0);
          shown.set(question.sessionId, foreign.length);
          const messages = fresh.map(({ texts }) => asUser(texts));
          return askModel({ ...question, messages: [...question.messages, ...messages] });
        },
      };
    },
  },
  {
    requirement: "content.image",
    what: "leaves the images of a steer out",
    apply: () => ({
      fromClient: (message, wire, request) => {
        if (!request?.steer) return wire.toAgent(message);
        const isImage = (block: unknown): boolean => (block as { data?: unknown } | null)?.data !== undefined;
        wire.toAgent(changePrompt(message, (blocks) => blocks.filter((block) => !isImage(block))));
      },
    }),
  },
  {
    requirement: "content.large",
    what: "cuts the text of a steer after 100,000 characters",
    apply: () => ({
      fromClient: (message, wire, request) => {
        if (!request?.steer?.texts.some((text) => text.length > LONG)) return wire.toAgent(message);
        const cut = (block: unknown): unknown => {
          const { text } = block as { text?: unknown };
          return typeof text === "string" ? withAt(block, ["text"], text.slice(0, LONG)) : block;
        };
        wire.toAgent(changePrompt(message, (blocks) => blocks.map(cut)));
      },
    }),
  },
];

const asUser = (texts: readonly string[]): ChatMessage => ({
  role: "user",
  content: texts.map((text) => ({ type: "text", text })),
});

function changePrompt<Message extends { readonly params?: unknown }>(
  message: Message,
  change: (blocks: readonly unknown[]) => readonly unknown[],
): Message {
  const { prompt } = message.params as { prompt?: unknown };
  return Array.isArray(prompt) ? withAt(message, ["params", "prompt"], change(prompt)) : message;
}

/** The messages with their steers, where several follow one another, in the reverse order. */
function backwards(messages: readonly ChatMessage[], texts: ReadonlySet<string>): readonly ChatMessage[] {
  const isSteer = (part: ChatPart): boolean => part.type === "text" && texts.has(part.text);
  const turned = changeParts(messages, (parts) => {
    const steers = parts.filter(isSteer).reverse();
    return parts.map((part) => (isSteer(part) ? (steers.shift() ?? part) : part));
  });
  const result: ChatMessage[] = [];
  let steers: ChatMessage[] = [];
  for (const message of turned) {
    if (message.role === "user" && message.content.some(isSteer)) steers.unshift(message);
    else {
      result.push(...steers, message);
      steers = [];
    }
  }
  return [...result, ...steers];
}
