import type { SteerMessage } from "@acp-steering/kit";
import { describe, expect, test, vi } from "vitest";
import type { KimiConversation, KimiEvent, SteerOutcome } from "../src/index.js";
import { toKimiParts } from "../src/kimi-content.js";
import { KimiRun } from "../src/kimi-run.js";

const PROMPT = { id: "prompt", content: [{ type: "text", text: "Go" }] } as const;
const rounds = async (): Promise<void> => {
  for (let round = 0; round < 5; round += 1) await new Promise((resolve) => setImmediate(resolve));
};

/** A run whose Kimi says what the test has it say. */
function begin(steer: KimiConversation["steer"] = async () => "joined") {
  let tell: (event: KimiEvent) => void = () => {};
  const given: string[] = [];
  const conversation = {
    prompt: vi.fn(async () => {}),
    steer: vi.fn<KimiConversation["steer"]>(async (message, signal) => {
      given.push(message.id);
      return steer(message, signal);
    }),
    cancel: vi.fn(async () => {}),
    onEvent: (listener: (event: KimiEvent) => void) => {
      tell = listener;
      return () => {};
    },
  };
  const run = new KimiRun({ conversation, prompt: PROMPT, toParts: toKimiParts });
  const settled = vi.fn();
  const end = run.settled();
  end.then(settled, settled);
  return { run, conversation, given, end, settled, tell: (event: KimiEvent) => tell(event) };
}

function message() {
  const prompt = [{ type: "text", text: "steer" }] as const;
  const ids = { turnId: "turn", messageId: "message" };
  return {
    ...ids,
    prompt,
    signal: new AbortController().signal,
    delivered: vi.fn(),
    undelivered: vi.fn(),
  } satisfies SteerMessage;
}

const started = (turnId: number, promptId: string): KimiEvent => ({ type: "turn.started", turnId, promptId });
const ended = (turnId: number, reason = "completed"): KimiEvent => ({ type: "turn.ended", turnId, reason });
const failed = (turnId: number, code: string): KimiEvent => ({
  ...ended(turnId, "failed"),
  error: { code, message: "" },
});

describe("a run of Kimi", () => {
  test("a steer waits until the prompt's turn has begun: before, Kimi would make a turn of it", async () => {
    const { run, given, tell } = begin();
    const verdict = run.steer(message());
    await rounds();
    expect(given).toEqual([]);
    tell(started(0, "prompt"));
    expect(await verdict).toBe("accepted");
    expect(given).toHaveLength(1);
  });

  test("G4: the end of its turn is not the end of the run while Kimi has a steer that it has not read", async () => {
    const { run, given, settled, end, tell } = begin();
    tell(started(0, "prompt"));
    const steer = message();
    await run.steer(steer);
    tell(ended(0, "cancelled"));
    await rounds();
    expect(settled).not.toHaveBeenCalled();
    tell(started(1, given[0] ?? ""));
    expect(steer.delivered).toHaveBeenCalledOnce();
    tell(ended(1));
    expect(await end).toMatchObject({ reason: "completed" });
  });

  test("G6: a turn that begins after a cancel is cancelled too, and nothing of it is reported as read", async () => {
    const { run, conversation, given, settled, end, tell } = begin();
    tell(started(0, "prompt"));
    const steer = message();
    await run.steer(steer);
    conversation.cancel.mockImplementation(() => new Promise((resolve) => setImmediate(() => setImmediate(resolve))));
    run.interrupt();
    await rounds();
    tell(ended(0, "cancelled"));
    await rounds();
    expect(settled).not.toHaveBeenCalled();
    tell(started(1, given[0] ?? ""));
    const before = conversation.cancel.mock.calls.length;
    await rounds();
    expect(conversation.cancel.mock.calls.length).toBeGreaterThan(before);
    tell(ended(1, "cancelled"));
    expect(await end).toMatchObject({ reason: "cancelled" });
    expect(steer.delivered).not.toHaveBeenCalled();
    expect(steer.undelivered).not.toHaveBeenCalled();
  });

  test("G2: a turn that begins after a failure is cancelled, and the failure is the end", async () => {
    const { run, conversation, given, settled, end, tell } = begin();
    tell(started(0, "prompt"));
    const steer = message();
    await run.steer(steer);
    conversation.cancel.mockImplementation(() => new Promise((resolve) => setImmediate(() => setImmediate(resolve))));
    tell(failed(0, "provider.api_error"));
    await rounds();
    expect(run.failed).toBe(true);
    expect(settled).not.toHaveBeenCalled();
    expect(await run.steer(message())).toBe("tooLate");
    tell(started(1, given[0] ?? ""));
    tell(ended(1, "cancelled"));
    expect(await end).toMatchObject({ reason: "failed", error: { code: "provider.api_error" } });
    expect(conversation.cancel).toHaveBeenCalled();
    expect(steer.delivered).not.toHaveBeenCalled();
    expect(steer.undelivered).not.toHaveBeenCalled();
  });

  test("a failure without a steer is the end at once, and Kimi is told nothing", async () => {
    const { conversation, end, tell } = begin();
    tell(started(0, "prompt"));
    tell(failed(0, "provider.api_error"));
    expect(await end).toMatchObject({ reason: "failed" });
    expect(conversation.cancel).not.toHaveBeenCalled();
  });

  test("where Kimi has run out of steps, the turn that it makes of a steer goes on with the run", async () => {
    const { run, conversation, given, end, tell } = begin();
    tell(started(0, "prompt"));
    const steer = message();
    await run.steer(steer);
    tell(failed(0, "loop.max_steps_exceeded"));
    tell(started(1, given[0] ?? ""));
    tell(ended(1));
    expect(await end).toMatchObject({ reason: "completed" });
    expect(steer.delivered).toHaveBeenCalledOnce();
    expect(conversation.cancel).not.toHaveBeenCalled();
  });

  test("G6: a cancel of a run that has failed is a cancel", async () => {
    const { run, conversation, given, end, tell } = begin();
    tell(started(0, "prompt"));
    await run.steer(message());
    conversation.cancel.mockImplementation(() => new Promise((resolve) => setImmediate(() => setImmediate(resolve))));
    tell(failed(0, "provider.api_error"));
    run.interrupt();
    tell(started(1, given[0] ?? ""));
    tell(ended(1, "cancelled"));
    expect(await end).toMatchObject({ reason: "cancelled" });
  });

  test("G2: where Kimi does not take a cancel, it still has the steer: it is not handed back", async () => {
    const { run, conversation, end, tell } = begin();
    tell(started(0, "prompt"));
    const steer = message();
    await run.steer(steer);
    conversation.cancel.mockRejectedValue(new Error("no"));
    run.interrupt();
    await expect(end).rejects.toThrow("no");
    expect(steer.undelivered).not.toHaveBeenCalled();
  });

  test("G6: a cancel takes back the steers that Kimi has queued as turns", async () => {
    const { run, conversation, given, end, tell } = begin(async () => "queued");
    tell(started(0, "prompt"));
    const steer = message();
    expect(await run.steer(steer)).toBe("accepted");
    run.interrupt();
    await rounds();
    expect(conversation.cancel).toHaveBeenCalledWith(given);
    tell({ type: "prompt.aborted", promptId: given[0] });
    tell(ended(0, "cancelled"));
    expect(await end).toMatchObject({ reason: "cancelled" });
    expect(steer.undelivered).toHaveBeenCalledOnce();
  });

  test("G2: a delivery that is told before the answer is the answer, and is not reported again", async () => {
    let answer: (outcome: SteerOutcome) => void = () => {};
    const { run, given, tell } = begin(() => new Promise((resolve) => (answer = resolve)));
    tell(started(0, "prompt"));
    const steer = message();
    const verdict = run.steer(steer);
    await rounds();
    tell({ type: "turn.steer", promptIds: given });
    answer("joined");
    expect(await verdict).toBe("delivered");
    expect(steer.delivered).not.toHaveBeenCalled();
  });

  test("what Kimi lets go of is handed back; a steer after the run is too late", async () => {
    const { run, given, end, tell } = begin();
    tell(started(0, "prompt"));
    const steer = message();
    await run.steer(steer);
    tell({ type: "steer.dropped", promptIds: given });
    tell(ended(0));
    await end;
    expect(steer.undelivered).toHaveBeenCalledOnce();
    expect(await run.steer(message())).toBe("tooLate");
  });

  test("G8: a Kimi that is lost fails the run, and hands back what it had not read", async () => {
    const { run, end, tell } = begin();
    tell(started(0, "prompt"));
    const steer = message();
    await run.steer(steer);
    run.lost(new Error("gone"));
    await expect(end).rejects.toThrow("gone");
    expect(steer.undelivered).toHaveBeenCalledOnce();
  });

  test("G7: the turns of sub-agents, numbered alike, are not the run's", async () => {
    const { settled, end, tell } = begin();
    tell(started(0, "prompt"));
    tell({ ...ended(0), agentId: "sub-1" });
    await rounds();
    expect(settled).not.toHaveBeenCalled();
    tell({ ...ended(0), agentId: "main" });
    expect(await end).toMatchObject({ reason: "completed" });
  });

  test("a hook that blocks the prompt ends the run without a turn", async () => {
    const { end, tell } = begin();
    await rounds();
    tell({ type: "prompt.completed", promptId: "prompt", reason: "blocked" });
    expect(await end).toMatchObject({ reason: "blocked" });
  });
});
