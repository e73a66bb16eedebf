import type { SteerMessage, Turn } from "@acp-steering/kit";
import { expect, test, vi } from "vitest";
import { type KimiConversation, type KimiEvent, KimiTurns } from "../src/index.js";

/** A Kimi that begins each turn when it is told to, and says what the test has it say. */
function openKimi() {
  let listeners: ((event: KimiEvent) => void)[] = [];
  const given: string[] = [];
  const take = async ({ id }: { id: string }): Promise<void> => void given.push(id);
  const conversation: KimiConversation = {
    prompt: take,
    steer: async (message) => take(message).then(() => "joined"),
    cancel: () => new Promise((resolve) => setImmediate(resolve)),
    onEvent: (listener) => {
      listeners = [...listeners, listener];
      return () => {
        listeners = listeners.filter((other) => other !== listener);
      };
    },
  };
  const tell = (...events: KimiEvent[]): void => {
    for (const event of events) for (const listener of listeners) listener(event);
  };
  return { conversation, given, tell };
}

test("what Kimi does with an unread steer after a failure is neither shown nor asked about", async () => {
  const { conversation, given, tell } = openKimi();
  const update = vi.fn<Turn["update"]>();
  const observe = vi.fn();
  const turns = new KimiTurns({ cwd: "/" });
  const turn = { prompt: [{ type: "text", text: "Go" }], signal: new AbortController().signal, update };
  const answer = turns.prompt(turn as unknown as Turn, () => ({ conversation, observe }));
  await vi.waitUntil(() => given.length === 1);
  tell({ type: "turn.started", turnId: 0, promptId: given[0] }, { type: "assistant.delta", delta: "Working" });
  const steer = { prompt: turn.prompt, signal: turn.signal, delivered: vi.fn(), undelivered: vi.fn() };
  await turns.steer(steer as unknown as SteerMessage);
  tell({ type: "turn.ended", turnId: 0, reason: "failed", error: { code: "provider.api_error", message: "nope" } });
  const seen = observe.mock.calls.length;
  tell(
    { type: "turn.started", turnId: 1, promptId: given[1] },
    { type: "assistant.delta", delta: "Second wind" },
    { type: "event.approval.requested", approval_id: "a" },
    { type: "turn.ended", turnId: 1, reason: "cancelled" },
  );
  await expect(answer).rejects.toMatchObject({ data: { reason: "modelFailed" } });
  expect(observe).toHaveBeenCalledTimes(seen);
  expect(update.mock.calls.map(([shown]) => JSON.stringify(shown)).join()).toContain("Working");
  expect(update.mock.calls.map(([shown]) => JSON.stringify(shown)).join()).not.toContain("Second wind");
});
