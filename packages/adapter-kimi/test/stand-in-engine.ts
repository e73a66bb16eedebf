import { execFile } from "node:child_process";
import { type ModelStep, StepQueue } from "@acp-steering/testkit";

/** A message as both kits of Kimi give it. */
export interface StandInPart {
  readonly type: string;
  readonly text?: string;
}

export interface StandInEvent {
  readonly type: string;
  readonly [key: string]: unknown;
}

type Answer =
  | { readonly kind: "end" }
  | { readonly kind: "run"; readonly command: string }
  | { readonly kind: "fail" }
  | { readonly kind: "aborted" };

/** A request to the model whose answer a case gives. */
class StandInStep implements ModelStep {
  readonly hasShell = true;
  readonly texts: readonly string[];
  readonly images: number;
  readonly abandoned: Promise<void>;
  readonly answer: Promise<Answer>;
  readonly #delta: (text: string) => void;
  #settle: (answer: Answer) => void = () => {};
  #said = false;

  constructor(messages: readonly (readonly StandInPart[])[], delta: (text: string) => void) {
    this.texts = messages.map((parts) => parts.map(({ text = "" }) => text).join("\n"));
    this.images = messages.flat().filter(({ type }) => type !== "text").length;
    this.#delta = delta;
    this.answer = new Promise((resolve) => {
      this.#settle = resolve;
    });
    this.abandoned = this.answer.then(({ kind }) => (kind === "aborted" ? undefined : new Promise<void>(() => {})));
  }

  say(text: string): void {
    this.#said = true;
    this.#delta(text);
  }

  async end(text = "ok"): Promise<void> {
    if (!this.#said) this.#delta(text);
    this.#settle({ kind: "end" });
  }

  run(command: string): void {
    this.#settle({ kind: "run", command });
  }

  fail(): void {
    this.#settle({ kind: "fail" });
  }

  abort(): void {
    this.#settle({ kind: "aborted" });
  }
}

export interface StandInOptions {
  readonly cwd: string;
  /** What becomes of steers that were not read when a turn is cancelled: they begin a turn by themselves, or are gone. */
  readonly leftovers: "ghost" | "dropped";
}

/** A stand-in for Kimi's engine: a conversation, a loop, and a queue of steers; the model is whoever plays a case. */
export class StandInEngine {
  readonly behind = new StepQueue();
  emit: (event: StandInEvent) => void = () => {};
  readonly #options: StandInOptions;
  readonly #history: (readonly StandInPart[])[] = [];
  #steers: (readonly StandInPart[])[] = [];
  #step: StandInStep | undefined;
  #turns = 0;
  #running = false;
  #aborted = false;
  /** Changes with whatever happens in here. */
  activity = 0;

  constructor(options: StandInOptions) {
    this.#options = options;
  }

  begin(message: readonly StandInPart[]): void {
    if (this.#running) throw new Error("a turn is already in progress");
    this.#running = true;
    this.#history.push(message);
    setImmediate(() => void this.#turn());
  }

  steer(message: readonly StandInPart[]): void {
    if (!this.#running) throw new Error("no turn to steer into");
    this.#steers.push(message);
  }

  abort(): void {
    if (!this.#running) return;
    this.#aborted = true;
    this.#step?.abort();
  }

  async #turn(): Promise<void> {
    const turnId = this.#turns++;
    this.#tell({ type: "turn.started", turnId });
    // Kimi writes a turn to its disk before it asks its model.
    for (let round = 0; round < 5; round += 1) await new Promise((resolve) => setImmediate(resolve));
    const reason = await this.#loop();
    const ghost = reason !== "completed" && this.#options.leftovers === "ghost" ? this.#steers.shift() : undefined;
    if (!ghost) this.#steers = [];
    this.#aborted = false;
    this.#running = ghost !== undefined;
    const error = reason === "failed" ? { error: { code: "provider.api_error", message: "the model failed" } } : {};
    this.#tell({ type: "turn.ended", turnId, reason, ...error });
    if (!ghost) return;
    this.#history.push(ghost);
    await this.#turn();
  }

  async #loop(): Promise<"completed" | "cancelled" | "failed"> {
    while (!this.#aborted) {
      this.#readSteers();
      const answer = await this.#ask();
      if (answer.kind === "aborted") return "cancelled";
      if (answer.kind === "fail") return "failed";
      if (answer.kind === "run") await this.#run(answer.command);
      else if (this.#steers.length === 0) return this.#aborted ? "cancelled" : "completed";
    }
    return "cancelled";
  }

  #readSteers(): void {
    for (const steer of this.#steers.splice(0)) {
      this.#history.push(steer);
      this.#tell({ type: "turn.steer" });
    }
  }

  #ask(): Promise<Answer> {
    const step = new StandInStep([...this.#history], (delta) => this.#tell({ type: "assistant.delta", delta }));
    this.#step = step;
    this.#tell({ type: "turn.step.started" });
    this.behind.add(step);
    return step.answer;
  }

  async #run(command: string): Promise<void> {
    const toolCallId = `call_${this.activity}`;
    this.#tell({ type: "tool.call.started", toolCallId, name: "Bash", args: { command } });
    const output = await new Promise<string>((resolve) => {
      const child = execFile("/bin/sh", ["-c", command], { cwd: this.#options.cwd }, (_error, stdout) =>
        resolve(stdout),
      );
      const poll = setInterval(() => this.#aborted && child.kill("SIGKILL"), 5);
      child.once("close", () => clearInterval(poll));
    });
    this.#history.push([{ type: "text", text: `tool said: ${output}` }]);
    this.#tell({ type: "tool.result", toolCallId, output });
  }

  #tell(event: StandInEvent): void {
    this.activity += 1;
    this.emit(event);
  }
}
