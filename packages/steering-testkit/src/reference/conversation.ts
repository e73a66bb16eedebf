import { randomUUID } from "node:crypto";
import { CODE } from "@acp-steering/core/protocol";
import { RequestError } from "@agentclientprotocol/sdk/unstable";
import type { ChatMessage } from "./chat-message.js";

/** One ACP session: what was said in it, and the run that is open. */
export class Conversation {
  readonly id: string = randomUUID();
  readonly cwd: string;
  readonly messages: ChatMessage[] = [];
  isOpen = true;
  #abort: AbortController | undefined;
  #run: Promise<unknown> | undefined;

  constructor(cwd: string) {
    this.cwd = cwd;
  }

  /** Runs one prompt, one at a time. `task` gets the signal by which {@link cancel} ends it. */
  async run<Result>(task: (abort: AbortController) => Promise<Result>): Promise<Result> {
    if (this.#abort) {
      throw new RequestError(
        CODE.invalidRequest,
        `reference-agent: session ${this.id} runs a prompt. Wait for its answer.`,
      );
    }
    this.#abort = new AbortController();
    const run = task(this.#abort).finally(() => {
      this.#abort = undefined;
    });
    this.#run = run;
    return run;
  }

  cancel(): void {
    this.#abort?.abort();
  }

  /** Ends the open run and waits for its end. */
  async close(): Promise<void> {
    this.isOpen = false;
    this.cancel();
    await this.#run?.catch(() => {});
  }
}

/** The sessions of one agent. They live as long as its process; a closed one can be loaded again. */
export class Conversations {
  readonly #all = new Map<string, Conversation>();

  begin(cwd: string): Conversation {
    const conversation = new Conversation(cwd);
    this.#all.set(conversation.id, conversation);
    return conversation;
  }

  all(): readonly Conversation[] {
    return [...this.#all.values()];
  }

  /** An open session. @throws RequestError -32002 for one that is closed or was never there. */
  open(id: string): Conversation {
    const conversation = this.any(id);
    if (!conversation.isOpen) throw notFound(id, "is closed. Load it first.");
    return conversation;
  }

  /** A session, closed or not. @throws RequestError -32002 for one that was never there. */
  any(id: string): Conversation {
    const conversation = this.#all.get(id);
    if (!conversation)
      throw notFound(id, "is not known here. It lived in an earlier process, if at all: create a new one.");
    return conversation;
  }
}

function notFound(id: string, why: string): RequestError {
  return new RequestError(CODE.notFound, `reference-agent: session ${id} ${why}`);
}
