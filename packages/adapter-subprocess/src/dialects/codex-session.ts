import { existsSync } from "node:fs";
import type { Verdict } from "@acp-steering/core";
import { CODE } from "@acp-steering/core/protocol";
import type { ConfigChange, SteerMessage, Turn, TurnOutcome, VendorSession } from "@acp-steering/kit";
import { VendorError } from "@acp-steering/kit";
import { isRecord, type JsonRecord, listOf, recordOf, textOf } from "@acp-steering/kit/adapter";
import type { Channel, Conversation, DialectSession, Opening, SessionUpdate } from "../dialect.js";
import { CodexAgents } from "./codex-agents.js";
import { CodexCalls, CodexRefusal } from "./codex-calls.js";
import { threadParams } from "./codex-opening.js";
import { CodexRun } from "./codex-run.js";
import { CodexSettings } from "./codex-settings.js";
import { type Beginning, CodexSlash } from "./codex-slash.js";
import { CodexUpdates } from "./codex-updates.js";

const OPENING_METHODS: Readonly<Record<Opening["kind"], string>> = {
  new: "thread/start",
  load: "thread/resume",
  resume: "thread/resume",
  fork: "thread/fork",
};

/** One thread of Codex' in a server of its own. */
export class CodexSession implements DialectSession {
  readonly #channel: Channel;
  readonly #calls: CodexCalls;
  readonly #updates = new CodexUpdates((update) => this.#show(update));
  readonly #agents: CodexAgents;
  #settings = new CodexSettings({}, []);
  #slash = new CodexSlash([]);
  #threadId = "";
  #file = "";
  #tokens: JsonRecord = {};
  #turn: Turn | undefined;
  #run: CodexRun | undefined;
  #send: ((update: SessionUpdate) => void) | undefined;

  constructor(channel: Channel) {
    this.#channel = channel;
    this.#calls = new CodexCalls(channel, {
      notified: (method, params) => this.#notified(method, params),
      asked: async (id, method, params) => this.#run?.asked(id, method, params),
    });
    this.#agents = new CodexAgents(this.#calls);
  }

  async start(opening: Opening): Promise<Conversation> {
    await this.#calls.introduce();
    const thread = await this.#open(opening);
    const { data } = await this.#calls.request("model/list");
    this.#settings = new CodexSettings(thread, data);
    const skills = await this.#calls.request("skills/list", { cwds: [opening.cwd] });
    this.#slash = new CodexSlash(skills["data"]);
    return this.#conversation();
  }

  async replay(show: (update: SessionUpdate) => void): Promise<void> {
    const past = new CodexUpdates(show);
    let cursor: unknown = null;
    do {
      const page = await this.#calls.request("thread/turns/list", {
        threadId: this.#threadId,
        sortDirection: "asc",
        itemsView: "full",
        cursor,
      });
      const turns = listOf(page["data"]).filter(isRecord);
      for (const item of turns.flatMap(({ items }) => listOf(items))) past.replay(recordOf(item));
      cursor = page["nextCursor"];
    } while (typeof cursor === "string");
  }

  receive(record: JsonRecord): void {
    this.#calls.receive(record);
  }

  async prompt(turn: Turn): Promise<TurnOutcome> {
    const run = new CodexRun({
      calls: this.#calls,
      threadId: this.#threadId,
      turn,
      updates: this.#updates,
      agents: this.#agents,
      log: this.#channel.log,
      beginning: this.#beginningOf(turn),
      tokensBefore: this.#tokens,
    });
    this.#run = run;
    this.#turn = turn;
    try {
      return await run.settled();
    } finally {
      this.#run = undefined;
      this.#turn = undefined;
    }
  }

  steer(message: SteerMessage): Promise<Verdict> {
    return this.#run?.steer(message) ?? Promise.resolve("tooLate");
  }

  interrupt(): void {
    this.#run?.interrupt();
  }

  get commands(): NonNullable<VendorSession["commands"]> {
    return this.#slash.commands;
  }

  configOptions(): ReturnType<NonNullable<VendorSession["configOptions"]>> {
    return this.#settings.configOptions();
  }

  async setConfigOption(change: ConfigChange): Promise<void> {
    this.#settings.set(change);
  }

  modes(): ReturnType<NonNullable<VendorSession["modes"]>> {
    return this.#settings.modes();
  }

  async setMode(modeId: string): Promise<void> {
    this.#settings.setMode(modeId);
  }

  attach(send: (update: SessionUpdate) => void): void {
    this.#send = send;
  }

  async drained(): Promise<void> {
    await this.#turn?.flushed();
  }

  ended(error: Error): void {
    this.#calls.ended(error);
    this.#run?.lost(error);
  }

  /** Codex writes a thread down with its first turn. */
  conversation(): Conversation | undefined {
    return existsSync(this.#file) ? this.#conversation() : undefined;
  }

  #conversation(): Conversation {
    return { id: this.#threadId, ...(this.#file && { file: this.#file }) };
  }

  /** What the user has changed goes along with the next turn that takes it. */
  #beginningOf({ prompt }: Turn): Beginning {
    const { method, params } = this.#slash.beginningOf(prompt);
    return { method, params: method === "turn/start" ? { ...this.#settings.takeChanges(), ...params } : params };
  }

  async #open(opening: Opening): Promise<JsonRecord> {
    try {
      return await this.#calls.request(OPENING_METHODS[opening.kind], threadParams(opening), (answer) => {
        const { id, path } = recordOf(answer["thread"]);
        this.#threadId = textOf(id);
        this.#file = textOf(path);
      });
    } catch (error) {
      throw opening.kind === "new" ? error : notOpened(opening.conversation.id, error);
    }
  }

  #notified(method: string, params: JsonRecord): void {
    if ("threadId" in params && params["threadId"] !== this.#threadId) return this.#agents.notified(method, params);
    this.#keep(method, params);
    this.#run?.notified(method, params);
    this.#updates.notified(method, params);
  }

  #keep(method: string, params: JsonRecord): void {
    switch (method) {
      case "thread/tokenUsage/updated":
        this.#tokens = recordOf(recordOf(params["tokenUsage"])["total"]);
        break;
      case "thread/name/updated":
        this.#send?.({ sessionUpdate: "session_info_update", title: textOf(params["threadName"]) || null });
        break;
      case "turn/started":
        if (!this.#run) this.#stopUnasked(recordOf(params["turn"]));
        break;
    }
  }

  /** Nobody asked for this turn, and nobody could see it, steer it or cancel it. */
  #stopUnasked({ id }: JsonRecord): void {
    this.#channel.log("Codex began a turn that nobody asked for; interrupting it");
    void this.#calls.request("turn/interrupt", { threadId: this.#threadId, turnId: id }).catch(() => {});
  }

  #show(update: SessionUpdate): void {
    if (this.#turn) this.#turn.update(update);
    else this.#send?.(update);
  }
}

function notOpened(sessionId: string, error: unknown): unknown {
  if (!(error instanceof CodexRefusal)) return error;
  const isUnknown = /no rollout found|invalid (session|thread) id|not found/i.test(error.message);
  const next = isUnknown
    ? "List the sessions that there are, or open a new one"
    : "Close it where it is open, or fork it";
  return new VendorError(`Codex cannot open session ${sessionId}: ${error.message}. ${next}.`, {
    ...(isUnknown && { code: CODE.notFound }),
    data: { sessionId },
    cause: error,
  });
}
