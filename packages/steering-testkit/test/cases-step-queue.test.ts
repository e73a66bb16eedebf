import { describe, expect, test } from "vitest";
import { carries, StepQueue } from "../src/cases/step-queue.js";
import { fakeStep } from "./fake-step.js";

describe("the queue of what came in behind an agent", () => {
  test("gives each request once, in order of arrival, to whoever asks for its mark", async () => {
    const queue = new StepQueue();
    const steps = [fakeStep("one apple"), fakeStep("a pear"), fakeStep("two apples")];
    for (const step of steps) queue.add(step);
    expect(await queue.next("apple")).toBe(steps[0]);
    expect(await queue.next("apple")).toBe(steps[2]);
    expect(queue.steps("apple")).toEqual([steps[0], steps[2]]);
  });

  test("gives what comes later to who waits already", async () => {
    const queue = new StepQueue();
    const waiting = queue.next("apple");
    queue.add(fakeStep("a pear"));
    const apple = fakeStep("an apple");
    queue.add(apple);
    expect(await waiting).toBe(apple);
  });

  test("takes any question in place of a mark", async () => {
    const queue = new StepQueue();
    const [pear, apple] = [fakeStep("a pear"), fakeStep("an apple")];
    queue.add(apple);
    queue.add(pear);
    expect(await queue.next((step) => !carries(step, "apple"))).toBe(pear);
  });

  test("an aborted wait takes nothing", async () => {
    const queue = new StepQueue();
    const waiting = new AbortController();
    const given = queue.next("apple", waiting.signal);
    waiting.abort(new Error("enough"));
    await expect(given).rejects.toThrow("enough");
    const apple = fakeStep("an apple");
    queue.add(apple);
    expect(await queue.next("apple")).toBe(apple);
  });

  test("what was taken back is not given", async () => {
    const queue = new StepQueue();
    const [first, second] = [fakeStep("an apple"), fakeStep("an apple")];
    queue.add(first);
    queue.add(second);
    queue.remove(first);
    expect(await queue.next("apple")).toBe(second);
    expect(queue.steps("apple")).toEqual([second]);
  });
});
