import { randomUUID } from "node:crypto";
import type { SteerMessage, Turn, TurnOutcome } from "@acp-steering/kit";
import { isRecord, type JsonRecord, listOf, textOf } from "@acp-steering/kit/adapter";
import type { Channel, Conversation, DialectSession, Opening, SessionUpdate } from "../dialect.js";
import { type Hello, namesConversations, PROTOCOL_VERSION } from "./steer-jsonl-hello.js";
import { SteerJsonlRun } from "./steer-jsonl-run.js";
import { SteerJsonlTalk } from "./steer-jsonl-talk.js";
import { SteerJsonlUpdates } from "./steer-jsonl-updates.js";

/** One conversation with one agent. */
export class SteerJsonlSession implements DialectSession {
  /** Only where the agent reads steers. */
  steer?: NonNullable<DialectSession["steer"]>;
  readonly #channel: Channel;
  readonly #talk: SteerJsonlTalk;
  #hello: Hello | undefined;
  #conversation: Conversation | undefined;
  #run: SteerJsonlRun | undefined;
  #turn: Turn | undefined;

  constructor(channel: Channel) {
    this.#channel = channel;
    this.#talk = new SteerJsonlTalk(channel);
  }

  async start(opening: Opening): Promise<Conversation> {
    const hello = await this.#talk.hello();
    this.#hello = hello;
    if (hello.steer) this.steer = async (message: SteerMessage) => this.#run?.steer(message) ?? "tooLate";
    const { id } = await this.#open(opening, hello);
    // An agent without a history has no name for its conversation: it ends with this child.
    this.#conversation = hello.history.resume && id ? { id } : undefined;
    return { id: id || randomUUID() };
  }

  async replay(show: (update: SessionUpdate) => void): Promise<void> {
    const { records } = await this.#talk.ask("replay", "past");
    const updates = new SteerJsonlUpdates(show, this.#channel.cwd);
    for (const record of listOf(records).filter(isRecord)) updates.showPast(record);
    updates.end("completed");
  }

  async prompt(turn: Turn): Promise<TurnOutcome> {
    const run = new SteerJsonlRun(this.#channel, this.#hello as Hello, turn);
    this.#run = run;
    this.#turn = turn;
    try {
      return await run.settled();
    } finally {
      this.#run = undefined;
      this.#turn = undefined;
    }
  }

  interrupt(): void {
    this.#run?.interrupt();
  }

  receive(record: JsonRecord): void {
    if (!this.#talk.receive(record)) this.#run?.receive(record);
  }

  async drained(): Promise<void> {
    await this.#turn?.flushed();
  }

  ended(error: Error): void {
    this.#talk.ended(error);
    this.#run?.ended(error);
  }

  conversation(): Conversation | undefined {
    return this.#conversation;
  }

  async #open(opening: Opening, hello: Hello): Promise<{ readonly id: string }> {
    const from = opening.kind === "new" ? {} : { conversation: opening.conversation.id };
    const how = opening.kind === "fork" ? { fork: true } : {};
    const open = { version: PROTOCOL_VERSION, cwd: opening.cwd, ...from, ...how };
    if (!namesConversations(hello)) {
      void this.#channel.send({ type: "open", ...open });
      return { id: "" };
    }
    const { conversation } = await this.#talk.ask("open", "opened", open);
    return { id: textOf(conversation) };
  }
}
