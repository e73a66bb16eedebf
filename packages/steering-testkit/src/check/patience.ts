import type { CheckLimits } from "./check-options.js";

const HUNG_IN_A_ROW = 3;
const IMPATIENT_MS = 3_000;
const IMPATIENT_START_MS = 20_000;

/** How long to wait for an agent: less while it hangs again and again, so that a check of it ends. */
export class Patience {
  readonly #limits: CheckLimits;
  #hung = 0;

  constructor(limits: CheckLimits) {
    this.#limits = limits;
  }

  get startMs(): number {
    return this.isOver ? Math.min(IMPATIENT_START_MS, this.#limits.startMs) : this.#limits.startMs;
  }

  get silenceMs(): number {
    return this.isOver ? Math.min(IMPATIENT_MS, this.#limits.silenceMs) : this.#limits.silenceMs;
  }

  get totalMs(): number {
    return this.isOver ? Math.min(2 * IMPATIENT_MS, this.#limits.caseMs) : this.#limits.caseMs;
  }

  /** Whether it has hung so often that what it does not do soon it will not do. */
  get isOver(): boolean {
    return this.#hung >= HUNG_IN_A_ROW;
  }

  hung(): void {
    this.#hung += 1;
  }

  answered(): void {
    this.#hung = 0;
  }
}
