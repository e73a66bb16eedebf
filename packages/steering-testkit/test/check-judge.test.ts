import { describe, expect, test } from "vitest";
import { type JudgedTrial, judgeTrials, type SessionRecord } from "../src/check/boundary/judge.js";
import { figuresOf, findingsOf } from "../src/check/boundary/tally.js";
import { MODEL_WORDS, type Trial } from "../src/check/boundary/trial.js";
import { parseLine, type WireRecord } from "../src/wire-record.js";

/** A session's log, written down line by line; `model:` stands for a request to the model with that text. */
class Session {
  readonly #log: WireRecord[] = [];
  readonly #sightings: { order: number; text: string }[] = [];
  readonly #trials: Trial[] = [];
  #history = "";

  prompt(number: number): this {
    this.#trials.push({
      number,
      offset: number,
      promptId: `p${number}`,
      promptMark: `prompt-${number}`,
      promptOrder: this.#log.length,
      steerId: `s${number}`,
      steerMark: `steer-${number}`,
      answerMs: 1,
    });
    return this.line("out", { id: `p${number}`, method: "session/prompt" });
  }

  closingPrompt(): this {
    return this.line("out", { id: "last", method: "session/prompt" });
  }

  owner(number: number): this {
    return this.line("in", { id: `p${number}`, result: { stopReason: "end_turn" } });
  }

  steer(number: number, outcome: string): this {
    return this.line("in", { id: `s${number}`, result: { outcome } });
  }

  update(sessionUpdate: string, text = ""): this {
    const update = { sessionUpdate, content: { type: "text", text } };
    return this.line("in", { method: "session/update", params: { sessionId: "s", update } });
  }

  /** The model is asked; agents send the whole conversation again each time. */
  model(news: string): this {
    this.#history += ` ${news}`;
    this.#sightings.push({ order: this.#log.length, text: this.#history });
    return this;
  }

  line(direction: "in" | "out", message: object): this {
    const raw = JSON.stringify({ jsonrpc: "2.0", ...message });
    const parsed = parseLine(raw);
    this.#log.push({ order: this.#log.length, at: 0, direction, raw, ...(parsed && { message: parsed }) });
    return this;
  }

  get record(): SessionRecord {
    return { sessionId: "s", trials: this.#trials, log: this.#log, sightings: this.#sightings };
  }
}

const judge = (session: Session): JudgedTrial => judgeTrials(session.record)[0] as JudgedTrial;
const failing = (session: Session): string[] =>
  findingsOf({ judged: judgeTrials(session.record), broken: [], durationMs: 0 })
    .filter(({ problems }) => problems.length > 0)
    .map(({ requirement }) => requirement);
const start = (): Session => new Session().prompt(1).model("prompt-1");

describe("what becomes of a steer at the end of a turn", () => {
  test("seen before the owner's answer: all is well", () => {
    const session = start().steer(1, "injected").model("steer-1").owner(1).closingPrompt().model("last");
    expect(judge(session)).toMatchObject({ answer: "injected", seen: "inTurn", copies: 1 });
    expect(failing(session)).toEqual([]);
  });

  test("promptRequired and never seen: all is well", () => {
    const session = start().owner(1).steer(1, "promptRequired").closingPrompt().model("last");
    expect(judge(session)).toMatchObject({ answer: "promptRequired", seen: "never" });
    expect(failing(session)).toEqual([]);
  });

  test("G1 no lost steer: injected and never seen", () => {
    expect(failing(start().steer(1, "injected").owner(1).closingPrompt().model("last"))).toEqual(["G1.boundary"]);
  });

  test("G7 isolation: injected and first seen with the next prompt", () => {
    const session = start().steer(1, "injected").owner(1).prompt(2).model("steer-1 prompt-2").owner(2);
    expect(judge(session)).toMatchObject({ seen: "later" });
    expect(failing(session)).toEqual(["G7.turn"]);
  });

  test("G7 isolation: a leak of the last trial shows with the closing prompt", () => {
    const session = start().steer(1, "injected").owner(1).closingPrompt().model("steer-1 last");
    expect(failing(session)).toEqual(["G7.turn"]);
  });

  test("G4 one answer: the model is asked about it after the owner's answer", () => {
    const session = start().steer(1, "injected").owner(1).model("steer-1").closingPrompt().model("last");
    expect(judge(session)).toMatchObject({ seen: "late" });
    expect(failing(session)).toEqual(["G4.last"]);
  });

  test("G4 one answer: work is shown after the owner's answer", () => {
    const session = start().owner(1).steer(1, "promptRequired").update("agent_message_chunk", "and another thing");
    expect(judge(session)).toMatchObject({ followUps: 1 });
    expect(failing(session.closingPrompt())).toEqual(["G4.last"]);
  });

  test("G4 one answer: the model's words come after the owner's answer and the next prompt", () => {
    const session = start().owner(1).steer(1, "promptRequired").prompt(2).update("agent_message_chunk", MODEL_WORDS[0]);
    expect(failing(session.model("prompt-2"))).toEqual(["G4.last"]);
  });

  test("an agent may begin the next turn with words of its own", () => {
    const session = start().owner(1).steer(1, "promptRequired").prompt(2).update("agent_message_chunk", "A warning.");
    expect(judge(session.model("prompt-2"))).toMatchObject({ followUps: 0 });
  });

  test("what the next turn shows is its own, and an echo or a usage is no work", () => {
    const session = start().owner(1).steer(1, "promptRequired").update("usage_update").update("user_message_chunk");
    session.prompt(2).model("prompt-2").update("agent_message_chunk").owner(2).steer(2, "promptRequired");
    expect(judgeTrials(session.record).map(({ followUps }) => followUps)).toEqual([0, 0]);
  });

  test("G2 no duplicate: twice in one request", () => {
    expect(failing(start().steer(1, "injected").model("steer-1 steer-1").owner(1))).toEqual(["G2.once"]);
  });

  test("G5 idle consumes nothing: promptRequired and seen all the same", () => {
    const session = start().owner(1).steer(1, "promptRequired").closingPrompt().model("steer-1 last");
    expect(failing(session)).toEqual(["G5.nothing"]);
  });

  test("G4 one answer: two answers to the prompt or to the steer", () => {
    expect(failing(start().steer(1, "promptRequired").owner(1).owner(1))).toEqual(["G4.prompt"]);
    expect(failing(start().steer(1, "promptRequired").steer(1, "promptRequired").owner(1))).toEqual(["G4.steer"]);
  });

  test("an answer behind the owner's is counted", () => {
    const session = start().model("steer-1").owner(1).steer(1, "injected").closingPrompt().model("last");
    expect(judge(session)).toMatchObject({ answeredAfterOwner: true, seen: "inTurn" });
  });
});

describe("what trials add up to", () => {
  test("counts, and the offsets at the edge", () => {
    const session = start().steer(1, "injected").model("steer-1").owner(1);
    session.prompt(2).model("prompt-2").steer(2, "injected").owner(2);
    session.prompt(3).model("prompt-3").owner(3).steer(3, "promptRequired");
    const broken = [{ number: 4, problem: "it hangs", promptUnanswered: true, steerUnanswered: false }];
    expect(figuresOf({ judged: judgeTrials(session.record), broken, durationMs: 12.3 })).toMatchObject({
      trials: 4,
      injected: 2,
      promptRequired: 1,
      inTurn: 1,
      lost: 1,
      promptsUnanswered: 1,
      latestInjectedMs: 2,
      earliestPromptRequiredMs: 3,
      durationMs: 12,
    });
  });

  test("without a trial there is nothing to say", () => {
    expect(figuresOf({ judged: [], broken: [], durationMs: 0 })).toMatchObject({ trials: 0, latestInjectedMs: null });
  });

  test("G4 one answer: an unanswered request is a problem of its own requirement", () => {
    const broken = [{ number: 1, problem: "it hangs", promptUnanswered: false, steerUnanswered: true }];
    const found = findingsOf({ judged: [], broken, durationMs: 0 }).filter(({ problems }) => problems.length > 0);
    expect(found.map(({ requirement }) => requirement)).toEqual(["G4.steer"]);
  });
});
