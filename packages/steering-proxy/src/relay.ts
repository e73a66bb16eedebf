import type { RpcError, WireMessage } from "@acp-steering/core";
import { METHOD } from "@acp-steering/core/protocol";
import { LineTooLongError } from "@acp-steering/kit/process";
import { Agent } from "./agent.js";
import type { AgentDeath, StartProcess } from "./agent-process.js";
import { ClientOutput } from "./client-output.js";
import { agentSilent, describeDeath, strategyUnavailable } from "./errors.js";
import { answerForLayer, Introduction } from "./introduction.js";
import { Originals, readLine } from "./json-lines.js";
import { createLayer, type Layer } from "./layer.js";
import { LineScanner } from "./line-scanner.js";
import { PROXY_EXIT, type ProxyOptions } from "./options.js";
import { PassingLines } from "./passing-lines.js";
import { Rubbish } from "./rubbish.js";
import { type Choice, chooseStrategy } from "./strategy.js";
import { VendorDriver } from "./vendor-driver.js";
import type { AgentCalls } from "./vendor-steering.js";

const START_TIMEOUT_MS = 60_000;
const STOP_GRACE_MS = 2_000;
/** What the layer still has to answer after the agent has ended for good is not waited for longer. */
const LAST_ANSWERS_MS = 15_000;

/** One client, one agent, and the layer between them, as lines. */
export class Relay {
  /** Resolves with the exit code when both sides have ended. */
  readonly ended: Promise<number>;
  readonly #options: ProxyOptions;
  readonly #originals = new Originals();
  readonly #passing = new PassingLines();
  readonly #agent: Agent;
  readonly #output: ClientOutput;
  readonly #introduction: Introduction;
  readonly #rubbish: Rubbish;
  /** Requests of the client without an answer. */
  readonly #unanswered = new Set<WireMessage["id"]>();
  /** What the vendor's steering wants to send, in the place that stands for it in the queue to the agent. */
  readonly #calls = new WeakMap<WireMessage, () => void>();
  #layer: Layer | undefined;
  #vendor: VendorDriver | undefined;
  /** The message of the agent that the layer is handling, and what that has brought. */
  #handled: { readonly message: WireMessage; passed: boolean; others: boolean } | undefined;
  #startTimer: NodeJS.Timeout | undefined;
  #clientGone = false;
  #exitCode: number | undefined;
  #receiptsAreOurs = false;
  #resolve: (exitCode: number) => void = () => {};

  constructor(options: ProxyOptions, startProcess?: StartProcess) {
    this.#options = options;
    this.ended = new Promise((resolve) => {
      this.#resolve = resolve;
    });
    this.#rubbish = new Rubbish(this.#log, options.logContent === true);
    this.#output = new ClientOutput(options.output, (isFull) => (isFull ? this.#agent.pause() : this.#agent.resume()));
    this.#introduction = new Introduction({
      toAgent: (message) => void this.#send(message),
      toClient: (message) => this.#toClient(message),
      asked: () => this.#awaitAnswer(),
      met: (request, answer, held) => this.#met(request, answer, held),
    });
    this.#agent = this.#createAgent(startProcess);
  }

  /** @throws Error where the agent's command cannot be started */
  async start(): Promise<void> {
    await this.#agent.start();
    const { input, output } = this.#options;
    const scanner = this.#clientScanner();
    input.on("data", (chunk: Buffer) => this.#readClient(scanner, chunk));
    input.on("end", () => {
      if (!this.#clientGone) scanner.end();
      this.#endClient();
    });
    input.on("error", () => this.#endClient());
    output.on("error", () => void this.stop(PROXY_EXIT.clientEnded));
  }

  /** Ends the agent, and then the proxy with that exit code. What the client has not read is not waited for. */
  async stop(exitCode: number): Promise<void> {
    this.#clientGone = true;
    this.#exitCode ??= exitCode;
    await this.#agent.stop();
    this.#resolve(this.#exitCode);
  }

  readonly #log = (line: string): void => this.#options.log?.(line);

  // --- From the client --------------------------------------------------------------------------------------------------

  #clientScanner(): LineScanner {
    const sink = {
      scanning: () => {},
      passes: () => false,
      span: () => {},
      line: (line: Buffer) => this.#readClientLine(line),
    };
    return new LineScanner(sink, this.#options.maxLineBytes);
  }

  #readClient(scanner: LineScanner, chunk: Buffer): void {
    if (this.#clientGone) return;
    try {
      scanner.push(chunk);
    } catch (error) {
      if (!(error instanceof LineTooLongError)) throw error;
      this.#log(`the client sent ${error.message}; the connection ends`);
      this.#exitCode ??= PROXY_EXIT.unreadable;
      this.#endClient();
    }
    if (this.#layer?.busy) this.#options.input.pause();
  }

  #readClientLine(line: Buffer): void {
    this.#options.tap?.("fromClient", line);
    const read = readLine(line);
    if (read.kind === "blank") return;
    if (read.kind !== "message") return this.#fromClient(this.#originals.standIn(line));
    const { message } = read;
    this.#originals.remember(message, line);
    if (message.method !== undefined && message.id !== undefined) this.#unanswered.add(message.id);
    this.#fromClient(message);
  }

  #fromClient(message: WireMessage): void {
    if (this.#layer) this.#layer.fromClient(message);
    else this.#introduction.fromClient(message);
  }

  #endClient(): void {
    if (this.#clientGone) return;
    this.#clientGone = true;
    if (this.#layer) this.#layer.clientEnded();
    else if (!this.#introduction.open) this.#releaseAgent();
  }

  #releaseAgent(): void {
    if (!this.#agent.alive) return void this.#finish(PROXY_EXIT.clientEnded);
    this.#agent.endInput();
    const { stopGraceMs = STOP_GRACE_MS } = this.#options;
    setTimeout(() => void this.#agent.stop(), stopGraceMs).unref();
  }

  // --- To the agent -----------------------------------------------------------------------------------------------------

  #send(message: WireMessage): Promise<void> | undefined {
    this.#passing.forget();
    const call = this.#calls.get(message);
    if (call) return call() as undefined;
    if (Array.isArray(message)) return this.#agent.sendOther(this.#originals.lineOf(message));
    if (message.method === METHOD.prompt) this.#vendor?.runBegins(message);
    return this.#agent.send(message);
  }

  /** Behind everything that the layer has sent to the agent by now: a steer must not overtake its prompt. */
  #inTurn(call: () => void): void {
    if (this.#clientGone || !this.#layer) return void setImmediate(call);
    const place = [] as unknown as WireMessage;
    this.#calls.set(place, call);
    this.#layer.fromClientFirst(place);
  }

  readonly #agentCalls: AgentCalls = {
    request: (method, params, timeoutMs) =>
      new Promise((resolve, reject) => {
        this.#inTurn(() => void this.#agent.request(method, params, timeoutMs).then(resolve, reject));
      }),
    notify: (method, params) => this.#inTurn(() => void this.#agent.send({ jsonrpc: "2.0", method, params })),
  };

  // --- The introduction -------------------------------------------------------------------------------------------------

  #awaitAnswer(): void {
    const { command, startTimeoutMs = START_TIMEOUT_MS } = this.#options;
    this.#startTimer = setTimeout(() => {
      const request = this.#introduction.open;
      if (!request) return;
      const error = agentSilent(command, startTimeoutMs / 1_000, this.#agent.stderr);
      this.#refuseToStart(request, error);
    }, startTimeoutMs);
  }

  #refuseToStart(request: WireMessage, error: RpcError, held?: readonly WireMessage[]): void {
    this.#log(error.message);
    this.#exitCode ??= PROXY_EXIT.notStarted;
    this.#clientGone = true;
    void this.#agent.stop();
    this.#introduction.refuse(request, error, held);
  }

  #met(request: WireMessage, answer: WireMessage, held: readonly WireMessage[]): void {
    clearTimeout(this.#startTimer);
    const choice = chooseStrategy(answer.result, this.#options.strategy ?? "auto");
    if ("problem" in choice) return this.#refuseToStart(request, strategyUnavailable(choice.problem), held);
    this.#log(`steering by "${choice.name}"`);
    this.#agent.meet(request, answer);
    // What the agent said behind its answer waits until the layer has seen that.
    this.#agent.suspend();
    const layer = this.#createLayer(choice, (message) => {
      if (message !== request) return this.#send(message);
      layer.fromAgent(answerForLayer(answer, choice));
      this.#agent.continue();
      return undefined;
    });
    this.#layer = layer;
    for (const message of [request, ...held]) layer.fromClient(message);
    if (this.#clientGone) layer.clientEnded();
  }

  #createLayer(choice: Choice, toAgent: (message: WireMessage) => Promise<void> | undefined): Layer {
    const { vendor, emulate } = choice;
    this.#receiptsAreOurs = choice.passThrough !== true;
    const { idleBehavior, whenBusy } = this.#options;
    if (vendor) this.#vendor = new VendorDriver(vendor, this.#agentCalls);
    this.#passing.watch(this.#vendor?.needles ?? []);
    return createLayer(
      {
        ...(this.#vendor && { driver: this.#vendor.driver }),
        ...(emulate && { emulate }),
        ...(idleBehavior && { idleBehavior }),
        ...(whenBusy && { whenBusy }),
      },
      {
        toClient: (message) => this.#toClient(message),
        toAgent,
        reading: () => this.#passing.forget(),
        idle: () => void this.#options.input.resume(),
        agentReleased: () => this.#releaseAgent(),
      },
    );
  }

  // --- From the agent ---------------------------------------------------------------------------------------------------

  #createAgent(startProcess: StartProcess | undefined): Agent {
    const { command, args, cwd, env, tap, restart = "on-demand", startTimeoutMs = START_TIMEOUT_MS } = this.#options;
    const settings = {
      agent: { command, args, cwd, env },
      restart,
      startTimeoutMs,
      maxLineBytes: this.#options.maxLineBytes,
      originals: this.#originals,
      startProcess,
    };
    return new Agent(settings, {
      scanning: (text) => this.#passing.scanning(text),
      passes: (text, start, end) => this.#passing.passes(text, start, end),
      span: (lines) => this.#pass(lines),
      chunk: (stage) => (stage === "begins" ? this.#output.gather() : this.#output.flush()),
      message: (message, line) => this.#fromAgent(message, line),
      batch: (line) => this.#writeLine(line),
      read: (line) => tap?.("fromAgent", line),
      wrote: (line) => tap?.("toAgent", line),
      rubbish: (line) => this.#rubbish.found(line),
      stderr: (chunk) => void this.#options.errorOutput?.write(chunk),
      restarted: () => this.#restarted(),
      died: (death, isFinal) => this.#died(death, isFinal),
    });
  }

  #pass(lines: Buffer): void {
    const { tap } = this.#options;
    if (tap) {
      for (let start = 0; start < lines.length; ) {
        const end = lines.indexOf("\n", start);
        const line = lines.subarray(start, end);
        tap("fromAgent", line);
        tap("toClient", line);
        start = end + 1;
      }
    }
    this.#output.writeLines(lines);
  }

  #fromAgent(message: WireMessage, line: Buffer): void {
    if (!this.#layer) return this.#introduction.fromAgent(message);
    if (this.#vendor?.see(message, line)) return;
    // A layer in the agent tells the client of turns that are runs to ours.
    if (message.method === METHOD.receipt && this.#receiptsAreOurs) return;
    const handled = { message, passed: false, others: false };
    this.#handled = handled;
    this.#layer.fromAgent(message);
    this.#handled = undefined;
    if (message.method === METHOD.update && handled.passed && !handled.others) this.#passing.learn(line);
    else this.#passing.forget();
  }

  // --- To the client ----------------------------------------------------------------------------------------------------

  #toClient(message: WireMessage): void {
    if (message === this.#handled?.message) this.#handled.passed = true;
    else {
      if (this.#handled) this.#handled.others = true;
      this.#passing.forget();
    }
    if (message.method === undefined) this.#unanswered.delete(message.id);
    this.#writeLine(this.#originals.lineOf(message));
  }

  #writeLine(line: Buffer): void {
    this.#options.tap?.("toClient", line);
    this.#output.writeLine(line);
  }

  // --- The end ----------------------------------------------------------------------------------------------------------

  #restarted(): void {
    this.#log("the agent was started again");
    this.#vendor?.connect();
    if (this.#output.isFull) this.#agent.pause();
  }

  #died(death: AgentDeath, isFinal: boolean): void {
    clearTimeout(this.#startTimer);
    this.#passing.forget();
    this.#vendor?.disconnect();
    if (this.#clientGone) return void this.#finish(PROXY_EXIT.clientEnded);
    this.#log(describeDeath(death));
    if (isFinal) void this.#finishWhenAnswered();
  }

  async #finishWhenAnswered(): Promise<void> {
    const deadline = Date.now() + LAST_ANSWERS_MS;
    do await new Promise((resolve) => setTimeout(resolve, 0));
    while (this.#unanswered.size > 0 && !this.#clientGone && Date.now() < deadline);
    await this.#finish(PROXY_EXIT.agentEnded);
  }

  async #finish(exitCode: number): Promise<void> {
    this.#clientGone = true;
    this.#exitCode ??= exitCode;
    this.#options.input.pause();
    await this.#layer?.agentEnded();
    await this.#output.written();
    this.#resolve(this.#exitCode);
  }
}
