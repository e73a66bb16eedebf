import type { Clock } from "../../src/hub.js";
import type { History } from "./history.js";

/** What decides which of the things that could happen next does: fast-check's scheduler, or a fixed story. */
export interface Chooser {
  schedule(task: Promise<void>, label: string): Promise<void>;
  waitOne(): Promise<void>;
  count(): number;
}

/** An order of events by their labels; where the next label waits for nothing, the one after it; at the end, first come first. */
export class FixedOrder implements Chooser {
  private readonly waiting: { readonly label: string; readonly go: () => void }[] = [];
  private readonly labels: string[];

  constructor(labels: readonly string[]) {
    this.labels = [...labels];
  }

  schedule(_: Promise<void>, label: string): Promise<void> {
    return new Promise((go) => this.waiting.push({ label, go }));
  }

  count(): number {
    return this.waiting.length;
  }

  async waitOne(): Promise<void> {
    let found = -1;
    while (found < 0 && this.labels.length > 0) {
      const next = this.labels.shift();
      found = this.waiting.findIndex(({ label }) => label === next);
    }
    this.waiting.splice(Math.max(0, found), 1)[0]?.go();
  }
}

/** Every promise that can settle has: the SDK's own awaits cannot be scheduled, so they run out between two steps. */
const quiescence = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** No world has so much to do. */
const MANY_STEPS = 1_000;

/** Where everything waits that the schedule orders. Until `close()` nothing waits, so that a world can be set up. */
export class Schedule {
  readonly labels: string[] = [];
  private isOpen = true;
  private readonly chooser: Chooser;
  private readonly history: History;

  constructor(chooser: Chooser, history: History) {
    this.chooser = chooser;
    this.history = history;
  }

  close(): void {
    this.isOpen = false;
  }

  /** Resolves when it is this one's turn to happen. */
  async pass(label: string): Promise<void> {
    if (this.isOpen) return;
    await this.chooser.schedule(Promise.resolve(), label);
    this.labels.push(label);
    this.history.next();
  }

  /** Lets things happen, one after the other, until nothing is left that could. */
  async run(): Promise<void> {
    await quiescence();
    while (this.chooser.count() > 0) {
      if (this.labels.length > MANY_STEPS) throw new Error(`Something goes on for ever: ${this.labels.slice(-8)}`);
      await this.chooser.waitOne();
      await quiescence();
    }
  }
}

/** Messages of one direction: they arrive in order, each when the schedule says so. */
export class Line {
  private readonly waiting: (() => void)[] = [];
  private readonly schedule: Schedule;
  private readonly label: string;

  constructor(schedule: Schedule, label: string) {
    this.schedule = schedule;
    this.label = label;
  }

  send(arrive: () => void): void {
    this.waiting.push(arrive);
    void this.schedule.pass(this.label).then(() => this.waiting.shift()?.());
  }
}

interface Timer {
  readonly due: number;
  readonly run: () => void;
}

/** How many timers fire by themselves; a run that is never answered keeps one armed for ever. */
const FREE_TICKS = 40;

/** Time moves from timer to timer, when the schedule says so. Timers fire in order of due time, then of arming. */
export class ScheduledClock implements Clock {
  private readonly timers = new Set<Timer>();
  private ticks = 0;
  private readonly schedule: Schedule;
  private readonly history: History;

  constructor(schedule: Schedule, history: History) {
    this.schedule = schedule;
    this.history = history;
  }

  set(run: () => void, ms: number): unknown {
    const timer = { due: this.history.now + ms, run };
    this.timers.add(timer);
    this.ticks += 1;
    if (this.ticks <= FREE_TICKS) void this.schedule.pass("time").then(() => this.tick());
    return timer;
  }

  clear(timer: unknown): void {
    this.timers.delete(timer as Timer);
  }

  /** Fires the next timer; says whether there was one. */
  tick(): boolean {
    let next: Timer | undefined;
    for (const timer of this.timers) if (!next || timer.due < next.due) next = timer;
    if (!next) return false;
    this.timers.delete(next);
    this.history.now = next.due;
    this.history.record({ kind: "tick" });
    next.run();
    return true;
  }
}
