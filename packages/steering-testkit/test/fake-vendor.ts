import type { ContentBlock } from "@acp-steering/core";
import {
  type SteerMessage,
  type Turn,
  type TurnOutcome,
  type Vendor,
  VendorError,
  type VendorSession,
} from "@acp-steering/kit";
import type { ModelStep } from "../src/cases/stage.js";
import type { StepQueue } from "../src/cases/step-queue.js";

type End = "ended" | "failed" | "brokenOff";

/** What a model is asked that lives in the vendor itself: a test gives the answer. */
class PlayedStep implements ModelStep {
  readonly hasShell = false;
  readonly texts: readonly string[];
  readonly images: number;
  readonly over: Promise<End>;
  readonly abandoned: Promise<void>;
  readonly #turn: Turn;
  #end: (end: End) => void = () => {};
  #isOver = false;

  constructor(heard: readonly ContentBlock[], turn: Turn) {
    this.texts = heard.map((block) => (block.type === "text" ? block.text : ""));
    this.images = heard.filter(({ type }) => type === "image").length;
    this.#turn = turn;
    this.over = new Promise((resolve) => {
      this.#end = resolve;
    });
    this.abandoned = new Promise((resolve) => {
      this.over.then((end) => end === "brokenOff" && resolve());
    });
  }

  say(text: string): void {
    this.#turn.update({ sessionUpdate: "agent_message_chunk", content: { type: "text", text } });
  }

  async end(text?: string): Promise<void> {
    if (text !== undefined) this.say(text);
    this.#finish("ended");
  }

  run(): void {
    throw new Error("this vendor has no tools");
  }

  fail(): void {
    this.#finish("failed");
  }

  breakOff(): void {
    this.#finish("brokenOff");
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  #finish(end: End): void {
    this.#isOver = true;
    this.#end(end);
  }
}

/** Breaks off what its model says for every steer: `now`. */
class PlayedSession implements VendorSession {
  readonly id: string = crypto.randomUUID();
  readonly #behind: StepQueue;
  readonly #heard: ContentBlock[] = [];
  #step: PlayedStep | undefined;
  #interrupted = false;

  constructor(behind: StepQueue) {
    this.#behind = behind;
  }

  async prompt(turn: Turn): Promise<TurnOutcome> {
    this.#interrupted = false;
    this.#heard.push(...turn.prompt);
    for (;;) {
      const end = await this.#ask(turn);
      if (this.#interrupted) return { stopReason: "cancelled" };
      if (end === "failed") throw new VendorError("The model failed. Send the prompt again.");
      if (end === "ended") return { stopReason: "end_turn" };
    }
  }

  async steer({ prompt }: SteerMessage): Promise<"delivered" | "tooLate"> {
    // What is heard after the last answer is before no model any more.
    if (this.#step === undefined || this.#step.isOver) return "tooLate";
    this.#heard.push(...prompt);
    this.#step.breakOff();
    return "delivered";
  }

  interrupt(): void {
    this.#interrupted = true;
    this.#step?.breakOff();
  }

  async #ask(turn: Turn): Promise<End> {
    const step = new PlayedStep(this.#heard, turn);
    this.#step = step;
    this.#behind.add(step);
    const end = await step.over;
    this.#step = undefined;
    return end;
  }
}

/** A vendor whose model is played by the test. */
export const playedVendor = (behind: StepQueue): Vendor => ({
  name: "played",
  version: "1.0.0",
  supports: { content: ["text", "image"], boundary: "now" },
  promptCapabilities: { image: true },
  open: async () => new PlayedSession(behind),
});
