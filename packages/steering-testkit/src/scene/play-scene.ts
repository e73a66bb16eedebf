import type { AnyMessage } from "@agentclientprotocol/sdk/unstable";
import { checksOf } from "./checks.js";
import { Describer, type Description, describeModelRequest, describeReply } from "./describe-message.js";
import { type AgentCommand, Host } from "./host.js";
import { Ledger } from "./ledger.js";
import {
  type Party,
  type Report,
  SceneError,
  type SceneEvent,
  type SceneFacts,
  type SceneResult,
} from "./scene-event.js";
import type { SceneModel } from "./scene-model.js";
import { sightingOf } from "./sighting.js";
import { ANNOUNCEMENT, HOLD, isSteerObeyed, LATE_STEER, mentions, PROMPT, STEER, storyReply } from "./story.js";
import { rejectable, Watchdog } from "./watchdog.js";

/** What {@link playScene} needs: the agent's command, and who listens. */
export interface SceneOptions extends AgentCommand {
  /** The folder that `writeProject` filled, in which the session works. */
  readonly project: string;
  /** The agent must be set up, by its environment or its files, to use `model.server.url`. */
  readonly model: SceneModel;
  readonly report: Report;
  /** After how long without any event the scene is given up, in milliseconds. Default 60,000. */
  readonly quietLimitMs?: number;
  /** Ends the scene early. */
  readonly signal?: AbortSignal;
}

const AUTH_REQUIRED = -32000;
const QUIET_LIMIT_MS = 60_000;
// An agent that does not stream shows its announcement only after the hold; the user does not wait for it.
const READING_LIMIT_MS = 500;

/**
 * Plays the scene with one agent: a prompt whose turn makes tool calls, a steer while the model's answer is held open, a
 * steer after the turn, and that text again as a prompt.
 *
 * Gives everything that was checked; an agent that breaks the contract makes checks false, it does not throw.
 *
 * @throws SceneError with code `setup` (the command cannot be started), `agentFailed` (it ended, or refused a session),
 * `stuck` (nothing happened for `quietLimitMs`) or `interrupted` (`signal`)
 * @example
 * ```ts
 * const model = await startSceneModel();
 * await writeProject("/projects/demo");
 * const env = { ...process.env, OPENAI_BASE_URL: model.server.url, OPENAI_API_KEY: "none" };
 * const agent = { command: "some-agent", args: ["--acp"], env, cwd: "/projects" };
 * const { passed } = await playScene({ ...agent, project: "/projects/demo", model, report: console.log });
 * await model.server.close();
 * ```
 */
export async function playScene(options: SceneOptions): Promise<SceneResult> {
  const play = new Play(options);
  const interrupted = rejectable();
  const interrupt = (): void => interrupted.reject(new SceneError("interrupted", "The scene was interrupted."));
  options.signal?.addEventListener("abort", interrupt);
  if (options.signal?.aborted === true) interrupt();
  try {
    return await Promise.race([play.run(), play.watchdog.expired, interrupted.promise]);
  } finally {
    options.signal?.removeEventListener("abort", interrupt);
    await play.end();
  }
}

// `Omit` on the union would leave only what all members share.
type WithoutTime<Event> = Event extends unknown ? Omit<Event, "at"> : never;

class Play {
  readonly watchdog: Watchdog;

  readonly #options: SceneOptions;
  readonly #ledger: Ledger;
  readonly #describer: Describer;
  readonly #startedAt = performance.now();
  readonly #receipts: Record<string, unknown>[] = [];
  #starting: Promise<Host> | undefined;
  #host: Host | undefined;
  #isOver = false;
  #step = "";
  #agentText = "";
  #toolCalls = 0;
  #onAnnounced: () => void = () => {};
  #onUnscripted: () => void = () => {};

  constructor(options: SceneOptions) {
    this.#options = options;
    this.#ledger = new Ledger(() => options.model.server.requests.length);
    this.#describer = new Describer(options.project);
    const limit = options.quietLimitMs ?? QUIET_LIMIT_MS;
    this.watchdog = new Watchdog(limit, () => this.#stuck(limit));
  }

  async run(): Promise<SceneResult> {
    const { command, args, model } = this.#options;
    this.#emit({ type: "cast", agent: [command, ...args].join(" "), model: model.server.url });
    this.#beginStep("An agent that can be steered");
    // Rejected when the model server is closed.
    this.#watchModel().catch(() => {});
    this.#starting = Host.start(this.#options, (direction, message) => this.#tap(direction, message));
    const host = await this.#starting;
    this.#host = host;
    const sessionId = await this.#openSession(host);
    this.#beginStep("A turn, steered in the middle");
    await this.#steeredTurn(host, sessionId);
    const steerObeyed = await isSteerObeyed(this.#options.project);
    this.#beginStep("The turn is over: a steer has nothing to join");
    await host.ask("_session/steering", { sessionId, prompt: textBlocks(LATE_STEER) });
    this.#beginStep("So the client sends it as a prompt, and owns the turn");
    await host.ask("session/prompt", { sessionId, prompt: textBlocks(LATE_STEER) });
    await host.close();
    return this.#conclude(this.#facts(steerObeyed));
  }

  async end(): Promise<void> {
    this.#isOver = true;
    this.watchdog.stop();
    // A scene can end while its agent still starts; that agent has to go too.
    const host = await this.#starting?.catch(() => undefined);
    await host?.stop();
  }

  async #openSession(host: Host): Promise<string> {
    await host.ask("initialize", {
      protocolVersion: 1,
      clientInfo: { name: "steering-scene", version: "1.0.0" },
      clientCapabilities: { _meta: { steering: { receipts: true } } },
    });
    await host.ask("session/new", { cwd: this.#options.project, mcpServers: [] });
    for (const method of ["initialize", "session/new"]) {
      const { error } = this.#ledger.answer(method, 0);
      if (error === undefined) continue;
      const why = `The agent answered ${method} with error ${error.code}: ${error.message.replace(/\.$/, "")}.`;
      const next = error.code === AUTH_REQUIRED ? " Log in with the agent's own command, then run this again." : "";
      throw new SceneError("agentFailed", why + next + host.lastWords());
    }
    return String(this.#ledger.answer("session/new", 0).result?.["sessionId"]);
  }

  async #steeredTurn(host: Host, sessionId: string): Promise<void> {
    const unscripted = new Promise<void>((resolve) => {
      this.#onUnscripted = resolve;
    });
    const turn = host.ask("session/prompt", { sessionId, prompt: textBlocks(PROMPT) });
    await Promise.race([this.#heldAndRead(), unscripted, turn]);
    await host.ask("_session/steering", { sessionId, prompt: textBlocks(STEER) });
    this.#releaseHolds().catch(() => {});
    await turn;
  }

  async #heldAndRead(): Promise<void> {
    const announced = new Promise<void>((resolve) => {
      this.#onAnnounced = resolve;
    });
    await this.#options.model.server.held(HOLD);
    let limit: NodeJS.Timeout | undefined;
    const limited = new Promise<void>((resolve) => {
      limit = setTimeout(resolve, READING_LIMIT_MS);
    });
    await Promise.race([announced, limited]);
    clearTimeout(limit);
  }

  /** A loop, since an agent that asks again is held again. */
  async #releaseHolds(): Promise<void> {
    const { server } = this.#options.model;
    for (let last = -1; ; ) {
      last = (await server.held(HOLD, last)).index;
      server.release(HOLD);
    }
  }

  /** Reports each request that the model receives and what it answers, which its script tells by the request alone. */
  async #watchModel(): Promise<void> {
    const { server, toolboxFor } = this.#options.model;
    let isSteerSeen = false;
    for (let last = -1; ; last += 1) {
      const request = await server.nextRequest(last);
      if (this.#isOver) return;
      const hasSteer = request.messages.some(mentions(STEER));
      this.#message("agent", "model", describeModelRequest(request, hasSteer && !isSteerSeen));
      isSteerSeen ||= hasSteer;
      this.#message("model", "agent", describeReply(request, storyReply(request, toolboxFor)));
    }
  }

  #tap(direction: "out" | "in", message: AnyMessage): void {
    if (this.#isOver) return;
    if (direction === "out") {
      this.#ledger.sent(message);
      this.#message("client", "agent", this.#describer.describe(message));
      return;
    }
    const method = this.#ledger.received(message);
    this.#message("agent", "client", this.#describer.describe(message, method));
    if ("method" in message) this.#note(message.method, (message as { params?: unknown }).params);
  }

  #note(method: string, params: unknown): void {
    if (method === "_session/steering/update") this.#receipts.push(params as Record<string, unknown>);
    if (method !== "session/update") return;
    const { update } = params as { update: { sessionUpdate: string; content?: { text?: string } } };
    if (update.sessionUpdate === "tool_call") this.#toolCalls += 1;
    if (update.sessionUpdate === "agent_message_chunk") this.#agentText += update.content?.text ?? "";
    if (this.#agentText.includes(ANNOUNCEMENT)) this.#onAnnounced();
    const isWork = ["agent_message_chunk", "agent_thought_chunk", "tool_call"].includes(update.sessionUpdate);
    if (isWork && this.#options.model.server.requests.length === 0) this.#onUnscripted();
  }

  #facts(steerObeyed: boolean): SceneFacts {
    const answer = (method: string, nth: number): SceneFacts["owner"] => this.#ledger.answer(method, nth);
    const meta = answer("initialize", 0).result?.["_meta"] as { steering?: Record<string, unknown> } | null | undefined;
    const steer = answer("_session/steering", 0);
    const { requests } = this.#options.model.server;
    return {
      ...(meta?.steering !== undefined && { advertisement: meta.steering }),
      owner: answer("session/prompt", 0),
      steer,
      steerSeen: sightingOf(requests, STEER),
      steerReceipts: this.#receipts.filter(
        ({ messageId }) => messageId !== undefined && messageId === messageIdOf(steer),
      ),
      idleSteer: answer("_session/steering", 1),
      ownTurn: answer("session/prompt", 1),
      ownTurnSeen: sightingOf(requests, LATE_STEER),
      toolCalls: this.#toolCalls,
      steerObeyed,
      modelRequests: requests.length,
    };
  }

  #conclude(facts: SceneFacts): SceneResult {
    const checks = checksOf(facts);
    for (const check of checks) this.#emit({ type: "check", ...check });
    const passed = checks.every(({ verdict }) => verdict === "true");
    this.#emit({ type: "summary", passed, facts });
    return { passed, checks, facts };
  }

  #stuck(limitMs: number): SceneError {
    const words = this.#host?.lastWords() ?? "";
    return new SceneError("stuck", `Nothing happened for ${limitMs / 1_000} s in the step “${this.#step}”.${words}`);
  }

  #beginStep(title: string): void {
    this.#step = title;
    this.#emit({ type: "step", title });
  }

  #message(from: Party, to: Party, description: Description): void {
    this.#emit({ type: "message", from, to, ...description });
  }

  #emit(event: WithoutTime<SceneEvent>): void {
    this.watchdog.touch();
    this.#options.report({ at: Math.round(performance.now() - this.#startedAt), ...event } as SceneEvent);
  }
}

const textBlocks = (text: string): readonly { type: "text"; text: string }[] => [{ type: "text", text }];

function messageIdOf({ result }: SceneFacts["steer"]): unknown {
  const meta = result?.["_meta"] as { steering?: { messageId?: unknown } } | null | undefined;
  return meta?.steering?.messageId;
}
