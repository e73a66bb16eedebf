import type { Clock } from "../../src/hub.js";

interface Timer {
  readonly due: number;
  readonly run: () => void;
}

/** Time that a test moves by hand. Timers fire in order of due time, then of arming. */
export class ManualClock implements Clock {
  now = 0;
  private readonly timers = new Set<Timer>();

  set(run: () => void, ms: number): unknown {
    const timer = { due: this.now + ms, run };
    this.timers.add(timer);
    return timer;
  }

  clear(timer: unknown): void {
    this.timers.delete(timer as Timer);
  }

  get armed(): number {
    return this.timers.size;
  }

  /** Fires all that is due within `ms`, also what is armed meanwhile. */
  advance(ms: number): void {
    const end = this.now + ms;
    for (;;) {
      const next = [...this.timers].filter(({ due }) => due <= end).sort((one, other) => one.due - other.due)[0];
      if (!next) break;
      this.timers.delete(next);
      this.now = next.due;
      next.run();
    }
    this.now = end;
  }
}
