// @ts-nocheck: it plays a peer on the wire, whose messages have no types.
// How each vendor's agent is steered, and what it answers when there is nothing to steer.
import { notify, refusal } from "./wire.mjs";

const text = (prompt) => [{ type: "text", text: prompt }];
const newId = (prefix) => `${prefix}_${crypto.randomUUID()}`;
const enqueue = (session, prompt, id = newId("steer")) => {
  session.queue.push({ id, prompt });
  return id;
};
const info = (session, _meta) => session.update({ sessionUpdate: "session_info_update", _meta });
const noRun = (code, data) => refusal(code, "no prompt is running in this session", data);

const METHOD = {
  native: "_session/steering",
  goose: "_goose/unstable/session/steer",
  kimchi: "_kimchi.dev/steering",
  reasonix: "_reasonix.io/session/steer",
  kiro: "_session/steer",
  minimax: "mcode/session/steer",
  poolside: "_poolside/session_steer",
};

/**
 * - `meta`, `capabilitiesMeta`, `name`: what `initialize` says beside what all stand-ins say.
 * - `methods`: its methods; each gets its session and its params.
 * - `begins`, `ends`, `taken`: a run begins or ends, a steer was put before the model.
 * - `command`: what a prompt that arrives during a run is to it.
 * - `waitsForTools`: its model is shown steers only behind a tool's result; what is left at the end is lost.
 */
export const DIALECTS = {
  native: {
    meta: { steering: { supported: true } },
    methods: {
      [METHOD.native]: (session, { prompt, _meta }) => {
        if (session.run) return void enqueue(session, prompt) ?? { outcome: "injected" };
        if (_meta?.steering?.idleBehavior === "promptRequired")
          return { outcome: "promptRequired", reason: "noRunningTurn" };
        void session.prompt(prompt);
        return { outcome: "startedNewTurn" };
      },
    },
  },
  goose: {
    name: "goose",
    begins: (session) => info(session, { goose: { activeRunId: session.run.id } }),
    ends: (session) => info(session, { goose: { activeRunId: null } }),
    taken: (session, { id, prompt }) => {
      for (const content of prompt)
        session.update({
          sessionUpdate: "user_message_chunk",
          content,
          messageId: id,
          _meta: { goose: { messageId: id, steer: true } },
        });
    },
    methods: {
      [METHOD.goose]: (session, { expectedRunId, prompt }) => {
        if (!session.run) throw noRun(-32602, "no active run to steer");
        const { id: actualRunId } = session.run;
        if (expectedRunId !== actualRunId) throw noRun(-32602, { expectedRunId, actualRunId });
        return { runId: actualRunId, messageId: enqueue(session, prompt) };
      },
    },
  },
  kimchi: {
    capabilitiesMeta: { "kimchi.dev": { steering: true } },
    ends: (session) => {
      const steering = session.queue.map(({ prompt }) => prompt[0].text);
      if (steering.length > 0)
        notify("_kimchi.dev/queue_dropped", { sessionId: session.id, reason: "cancelled", steering });
    },
    taken: (session, { prompt: [content] }) => session.update({ sessionUpdate: "user_message_chunk", content }),
    methods: {
      [METHOD.kimchi]: (session, { prompt }) => {
        if (typeof prompt !== "string" || prompt.startsWith("/")) throw refusal(-32602, "no text, or a command");
        if (!session.run) return { status: "promptRequired" };
        enqueue(session, text(prompt));
        return { status: "injected" };
      },
    },
  },
  reasonix: {
    capabilitiesMeta: { "reasonix.io": { sessionSteer: { method: METHOD.reasonix } } },
    methods: {
      [METHOD.reasonix]: (session, { prompt }) => {
        if (!session.run) throw noRun(-32600);
        return { itemId: enqueue(session, prompt), disposition: "steer_accepted" };
      },
    },
  },
  kiro: {
    name: "Kiro CLI",
    ends: (session) => {
      const messageIds = session.queue.map(({ id }) => id);
      info(session, { kiro: { kind: "steering_cleared", messageIds } });
    },
    taken: (session, { id, prompt: [{ text: content }] }) =>
      info(session, { kiro: { kind: "steering_injected", messageId: id, content } }),
    methods: {
      [METHOD.kiro]: (session, { message, messageId }) => {
        const [, said] = /^<user_message>(.*)<\/user_message>$/s.exec(message ?? "") ?? [];
        if (!said) throw refusal(-32602, "an empty message");
        if (!session.run) return { queued: false };
        return { queued: true, messageId: enqueue(session, text(said), messageId) };
      },
    },
  },
  minimax: {
    meta: { "minimax-code/extensions": { version: 1, methods: ["session/activate", METHOD.minimax] } },
    methods: {
      [METHOD.minimax]: (session, { text: said, clientRequestId }) => {
        if (typeof said !== "string") throw refusal(-32602, "text is missing");
        if (!session.run) throw noRun(-32602);
        enqueue(session, text(said));
        return { mode: "steered", turnId: session.run.id, clientRequestId };
      },
    },
  },
  poolside: {
    capabilitiesMeta: { "poolside/session_steer": true },
    taken: (session, { id }) =>
      info(session, { "poolside/clientInputId": id, "poolside/inputEventId": newId("event") }),
    methods: {
      [METHOD.poolside]: (session, { inputId, prompt }) => {
        if (prompt[0].text?.startsWith("/")) throw refusal(-32602, "a command is no message");
        if (!session.run) throw noRun(-32600);
        return { inputId: enqueue(session, prompt, inputId) };
      },
    },
  },
  nooa: {
    capabilitiesMeta: { "dev.nooa/inject": { queue: {}, steer: {}, revoke: {} }, "poolside/session_steer": true },
    methods: {
      "_nooa/session/inject": (session, { mode, prompt }) => {
        const isSteered = mode === "steer" && session.run !== undefined;
        return { messageId: enqueue(session, prompt), delivered: isSteered ? "steered" : "queued" };
      },
      "_nooa/session/revoke_inject": (session, { messageId }) => {
        const { length } = session.queue;
        session.queue = session.queue.filter(({ id }) => id !== messageId);
        return { revoked: session.queue.length < length };
      },
    },
  },
  opencrabs: {
    name: "opencrabs",
    methods: {
      "session/steer": (session, { prompt }) => {
        if (session.run) enqueue(session, prompt);
      },
    },
  },
  hermes: {
    name: "hermes-agent",
    waitsForTools: true,
    commands: [{ name: "steer", description: "Steer the active turn" }],
    command: (session, prompt) => {
      const [, said] = /^\/steer (.*)$/s.exec(prompt[0].text ?? "") ?? [];
      if (!said) throw refusal(-32600, "a prompt is already running in this session");
      enqueue(session, text(said));
      session.say(`⏩ Steer queued for the active turn: ${said.slice(0, 80)}`);
      return { stopReason: "end_turn" };
    },
    methods: {},
  },
  concurrent: {
    command: (session, prompt) => {
      enqueue(session, prompt);
      return { stopReason: "end_turn" };
    },
    methods: {},
  },
  none: { methods: {} },
};
