import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { currentText, SteerGate, secondsOf, UsageError, whenStuck, withTimeout } from "../src/adapter/index.js";
import type { SteerMessage } from "../src/index.js";

afterEach(() => {
  vi.useRealTimers();
});

const steerWith = (messageId: string, controller = new AbortController()): SteerMessage => ({
  turnId: "turn",
  messageId,
  prompt: [{ type: "text", text: messageId }],
  signal: controller.signal,
  delivered: () => {},
  undelivered: () => {},
});

describe("a gate for steers", () => {
  test("G3: holds them until the vendor's run has begun, then gives them in order", async () => {
    const given: string[] = [];
    const gate = new SteerGate(async ({ messageId }) => {
      given.push(messageId);
      return "accepted";
    });
    const verdicts = [gate.steer(steerWith("one")), gate.steer(steerWith("two"))];
    expect(given).toEqual([]);
    gate.open();
    expect(await Promise.all(verdicts)).toEqual(["accepted", "accepted"]);
    expect(await gate.steer(steerWith("three"))).toBe("accepted");
    expect(given).toEqual(["one", "two", "three"]);
  });

  test("G1: what is held when it closes is too late, and so is what comes after", async () => {
    const give = vi.fn(async () => "accepted" as const);
    const gate = new SteerGate(give);
    const held = gate.steer(steerWith("one"));
    gate.close();
    gate.open();
    expect(await held).toBe("tooLate");
    expect(await gate.steer(steerWith("two"))).toBe("tooLate");
    expect([gate.closed, give.mock.calls]).toEqual([true, []]);
  });

  test("G2: a held steer that is taken back is not given", async () => {
    const given: string[] = [];
    const gate = new SteerGate(async ({ messageId }) => {
      given.push(messageId);
      return "accepted";
    });
    const controller = new AbortController();
    const [taken, kept] = [gate.steer(steerWith("taken", controller)), gate.steer(steerWith("kept"))];
    controller.abort();
    gate.open();
    expect([await taken, await kept, given]).toEqual(["tooLate", "accepted", ["kept"]]);
  });
});

describe("a cancelled run", () => {
  test("that does not end is reported after the grace, and again where it has to wait", () => {
    vi.useFakeTimers();
    const controller = new AbortController();
    const answers = ["wait", undefined] as const;
    let asked = 0;
    whenStuck(controller.signal, () => {
      asked += 1;
      return answers[asked - 1];
    });
    vi.advanceTimersByTime(60_000);
    expect(asked).toBe(0);
    controller.abort();
    vi.advanceTimersByTime(4_999);
    expect(asked).toBe(0);
    vi.advanceTimersByTime(60_000);
    expect(asked).toBe(2);
  });

  test.each(["before", "after"])("that ended %s its cancel is not stuck", (moment) => {
    vi.useFakeTimers();
    const controller = new AbortController();
    const stuck = vi.fn(() => undefined);
    const watch = whenStuck(controller.signal, stuck);
    if (moment === "after") controller.abort();
    watch.end();
    controller.abort();
    vi.advanceTimersByTime(60_000);
    expect(stuck).not.toHaveBeenCalled();
  });
});

test.each(["0", "-1", "soon", "86401", ""])("no timer is set for %j seconds", (value) => {
  expect(() => secondsOf("--patience", value)).toThrow(UsageError);
  expect(() => secondsOf("--patience", value)).toThrow(
    `--patience takes a number of seconds up to 86400, not "${value}".`,
  );
});

test("the text of a file is there up to 1 MiB", async () => {
  const folder = await mkdtemp(join(tmpdir(), "acp-steering-kit-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const path = join(folder, "text");
  expect(currentText(path)).toBeNull();
  await writeFile(path, "x".repeat(1_048_576));
  expect(currentText(path)).toHaveLength(1_048_576);
  await writeFile(path, "x".repeat(1_048_577));
  expect(currentText(path)).toBeNull();
});

test("a promise that takes too long is an error in its own words; one in time is itself", async () => {
  vi.useFakeTimers();
  const never = withTimeout(new Promise(() => {}), 1_000, "it does not listen");
  const said = expect(never).rejects.toThrow("it does not listen");
  await vi.advanceTimersByTimeAsync(1_000);
  await said;
  expect(await withTimeout(Promise.resolve("here"), 1_000, "late")).toBe("here");
  expect(vi.getTimerCount()).toBe(0);
});
