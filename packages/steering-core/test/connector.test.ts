import { afterEach, describe, expect, it, vi } from "vitest";
import { systemClock } from "../src/hub.js";
import type { MessageStream } from "../src/protocol.js";
import { steeringWith } from "../src/steering.js";
import { ManualClock } from "./support/clock.js";
import { streamPair } from "./support/rig.js";

describe("G8 containment: timers", () => {
  afterEach(() => void vi.useRealTimers());

  it("keep no process alive", () => {
    const timer = systemClock.set(() => {}, 1_000) as NodeJS.Timeout;
    expect(timer.hasRef()).toBe(false);
    systemClock.clear(timer);
  });

  it("fire when they are due, unless they were cleared", () => {
    vi.useFakeTimers();
    const fired: string[] = [];
    systemClock.set(() => fired.push("kept"), 1_000);
    systemClock.clear(systemClock.set(() => fired.push("cleared"), 1_000));
    vi.advanceTimersByTime(999);
    expect(fired).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(fired).toEqual(["kept"]);
  });
});

describe("the connection is what the SDK's servers ask for", () => {
  it("the options of connect and startConnectHandlers are passed through", () => {
    const seen: unknown[] = [];
    const app = {
      connect: (_: MessageStream, options?: object) => {
        seen.push(options);
        return { startConnectHandlers: () => seen.push("started") };
      },
    };
    const connection = steeringWith(app, {}, new ManualClock()).connect(streamPair()[0], {
      deferConnectHandlers: true,
    });
    connection.startConnectHandlers();
    expect(seen).toEqual([{ deferConnectHandlers: true }, "started"]);
  });

  it("an app that returns nothing will do", () => {
    const steerable = steeringWith({ connect: () => undefined }, {}, new ManualClock());
    expect(() => steerable.connect(streamPair()[0]).startConnectHandlers()).not.toThrow();
    expect(steerable.take("nothing")).toEqual([]);
  });
});
