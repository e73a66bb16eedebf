import { randomUUID } from "node:crypto";
import type { HistoryEntry } from "./bridge-protocol.js";
import type { SessionUpdate } from "./session-update.js";
import { ToolCard } from "./tool-cards.js";

type Speaker = "agent_message_chunk" | "agent_thought_chunk" | "user_message_chunk";

/** Turns the bridge's events, of a turn or of a session's past, into session updates. */
export class HermesUpdates {
  readonly #send: (update: SessionUpdate) => void;
  readonly #openTools = new Map<string, ToolCard>();
  #speaker: Speaker | undefined;
  #messageId = "";

  constructor(send: (update: SessionUpdate) => void) {
    this.#send = send;
  }

  event(event: HistoryEntry): void {
    switch (event.type) {
      case "text":
        return this.#say("agent_message_chunk", event.text);
      case "reasoning":
        return this.#say("agent_thought_chunk", event.text);
      case "user":
        this.#speaker = undefined;
        return this.#say("user_message_chunk", event.text);
      case "tool_start": {
        this.#speaker = undefined;
        const card = new ToolCard(event);
        this.#openTools.set(event.call, card);
        return this.#send(card.started());
      }
      case "tool_end":
        for (const update of this.#openTools.get(event.call)?.ended(event) ?? []) this.#send(update);
        this.#openTools.delete(event.call);
        return;
      case "context":
        return this.#send({ sessionUpdate: "usage_update", used: event.used, size: event.size });
      case "title":
        return this.#send({ sessionUpdate: "session_info_update", title: event.title });
    }
  }

  /** What is said from here on is a new message: it answers something that came in between. */
  interrupted(): void {
    this.#speaker = undefined;
  }

  /** Nothing more comes: tool calls that have no end do not stay open at the client. */
  end(): void {
    for (const card of this.#openTools.values()) this.#send(card.abandoned());
    this.#openTools.clear();
  }

  /** One message of the model is one id, also where it has thoughts before its text. */
  #say(speaker: Speaker, text: string): void {
    if (text === "") return;
    const goesOn =
      this.#speaker !== undefined && this.#speaker !== "user_message_chunk" && speaker !== "user_message_chunk";
    if (!goesOn) this.#messageId = randomUUID();
    this.#speaker = speaker;
    this.#send({ sessionUpdate: speaker, messageId: this.#messageId, content: { type: "text", text } });
  }
}
