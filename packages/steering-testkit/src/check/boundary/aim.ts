/** What came of a steer, as far as it matters for where to aim next. */
export type Hit = "injected" | "promptRequired" | "other";

interface Shot {
  readonly offset: number;
  readonly hit: Hit;
  readonly isOdd: boolean;
}

/** Steers are written from so many milliseconds before the model's last byte to as many after it. */
const RANGE_MS = 50;

const SWEEP_SHARE = 0.2;
const MAX_SWEEP = 32;
/** What an agent is still injected at far behind its model's last byte is looked for up to here. */
const FARTHEST_MS = 800;
const LEAST_MARGIN_MS = 3;
const ODD_MARGIN_MS = 1.5;
const [ODD, GAP] = [0.2, 0.8];
/** One straggler must not stretch what is aimed at. */
const [EARLY, LATE] = [0.05, 0.95];

/**
 * Chooses when to steer. First a sweep over the whole range; then mostly where `injected` turns to `promptRequired`, also
 * around whatever was odd, and now and then anywhere. Where everything was injected the range grows.
 */
export class Aim {
  readonly #sweep: number[];
  readonly #random: () => number;
  readonly #shots: Shot[] = [];

  /** @param random gives numbers from 0 to 1 */
  constructor(trials: number, random: () => number = Math.random) {
    this.#random = random;
    const count = Math.max(2, Math.min(MAX_SWEEP, Math.ceil(trials * SWEEP_SHARE)));
    const steps = Array.from({ length: count }, (_, step) => -RANGE_MS + (2 * RANGE_MS * step) / (count - 1));
    this.#sweep = interleave(steps);
  }

  /** Milliseconds from the model's last byte to the steer; below 0: before it. */
  next(): number {
    const swept = this.#sweep.pop();
    if (swept !== undefined) return swept;
    const odd = this.#shots.filter(({ isOdd }) => isOdd);
    const choice = this.#random();
    if (choice < ODD && odd.length > 0) return this.#aroundOne(odd);
    return choice < GAP ? this.#inGap() : this.#between(-RANGE_MS, RANGE_MS);
  }

  /** Tells what came of a steer at that offset, as it was measured. */
  note(offset: number, hit: Hit, isOdd: boolean): void {
    this.#shots.push({ offset, hit, isOdd });
  }

  #inGap(): number {
    const injected = this.#offsets("injected");
    const refused = this.#offsets("promptRequired");
    if (injected.length === 0) return this.#between(-RANGE_MS, RANGE_MS);
    if (refused.length === 0) return this.#between(0, Math.min(FARTHEST_MS, 2 * Math.max(RANGE_MS, ...injected)));
    const edges = [quantile(injected, LATE), quantile(refused, EARLY)];
    const [low, high] = [Math.min(...edges), Math.max(...edges)];
    const margin = Math.max(LEAST_MARGIN_MS, (high - low) / 2);
    return this.#between(low - margin, high + margin);
  }

  #aroundOne(shots: readonly Shot[]): number {
    const { offset } = shots[Math.floor(this.#random() * shots.length)] ?? { offset: 0 };
    return this.#between(offset - ODD_MARGIN_MS, offset + ODD_MARGIN_MS);
  }

  #offsets(hit: Hit): number[] {
    return this.#shots
      .filter((shot) => shot.hit === hit)
      .map(({ offset }) => offset)
      .sort((one, other) => one - other);
  }

  #between(low: number, high: number): number {
    return low + this.#random() * (high - low);
  }
}

const quantile = (sorted: readonly number[], share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;

/** So that an agent that gets slower with every turn is not seen slower only at one end of the range. */
function interleave(steps: readonly number[]): number[] {
  return [...steps.filter((_, index) => index % 2 === 0), ...steps.filter((_, index) => index % 2 === 1).reverse()];
}
