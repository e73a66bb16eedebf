import { randomUUID } from "node:crypto";
import type { ContentBlock, Verdict } from "@acp-steering/core";
import type { SteerMessage } from "@acp-steering/kit";
import type { JsonRecord } from "@acp-steering/kit/adapter";
import { toClaudeContent } from "./claude-content.js";

/** What Claude Code says of a message that it was given, by the name that it was given it with. */
export type Lifecycle = "queued" | "started" | "completed" | "cancelled";

/**
 * When Claude Code is to read a message. `now` breaks off what the model says; while a tool runs it would move that into the
 * background, where no cancel reaches it. `next` waits for the end of the step.
 */
export type Urgency = "now" | "next";

/**
 * How far a steer has come.
 *
 * - `sent`: Claude Code has not said that it has it
 * - `queued`: it has
 * - `noted`: it stands in the conversation, and the model has not answered to it
 * - `read`: the model has
 */
type Progress = "sent" | "queued" | "noted" | "read";

interface Steer {
  readonly message: SteerMessage;
  readonly settle: (verdict: Verdict) => void;
  progress: Progress;
  /** Claude Code is done with it. */
  done: boolean;
}

/** The steers of one run, by the names that Claude Code knows them by. */
export class ClaudeSteers {
  readonly #send: (record: JsonRecord) => void;
  readonly #steers = new Map<string, Steer>();

  constructor(send: (record: JsonRecord) => void) {
    this.#send = send;
  }

  /** Whether Claude Code is not done with one of them. What has come too late for a turn begins one of its own. */
  get pending(): boolean {
    return [...this.#steers.values()].some(({ done }) => !done);
  }

  /** Whether one stands in the conversation to which the model has not answered. */
  get unread(): boolean {
    return [...this.#steers.values()].some(({ progress }) => progress === "noted");
  }

  steer(message: SteerMessage, priority: Urgency): Promise<Verdict> {
    return new Promise((settle) => {
      const uuid = randomUUID();
      this.#steers.set(uuid, { message, settle, progress: "sent", done: false });
      const asText = isLikeCommand(message) ? { client_composed: true } : {};
      this.#send({ ...userMessage(uuid, message.prompt), priority, ...asText });
    });
  }

  followed(uuid: string, state: Lifecycle): void {
    const steer = this.#steers.get(uuid);
    if (!steer) return;
    switch (state) {
      case "queued":
        steer.progress = "queued";
        steer.settle("accepted");
        break;
      case "started":
        steer.progress = "noted";
        steer.settle("accepted");
        break;
      case "completed":
        steer.done = true;
        this.#read(steer);
        break;
      case "cancelled":
        steer.done = true;
        break;
    }
  }

  /** The model has begun to answer to all that stands in the conversation. */
  answered(): void {
    for (const steer of this.#steers.values()) if (steer.progress === "noted") this.#read(steer);
  }

  /** The run is over, and what nobody has read stands nowhere. */
  settle(): void {
    for (const { message, settle, progress } of this.#steers.values()) {
      if (progress === "sent") settle("tooLate");
      else if (progress !== "read") message.undelivered();
    }
    this.#steers.clear();
  }

  #read(steer: Steer): void {
    if (steer.progress === "read") return;
    steer.progress = "read";
    steer.settle("accepted");
    steer.message.delivered();
  }
}

/** A line that gives Claude Code a message of the user's. */
export function userMessage(uuid: string, prompt: readonly ContentBlock[]): JsonRecord {
  const message = { role: "user", content: toClaudeContent(prompt) };
  return { type: "user", uuid, message, parent_tool_use_id: null, session_id: "" };
}

/** In the middle of a turn, Claude Code would run a command in the place of the task. */
function isLikeCommand({ prompt }: SteerMessage): boolean {
  return prompt.some((block) => block.type === "text" && block.text.trimStart().startsWith("/"));
}
