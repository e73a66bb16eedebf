import type { Behind, ModelStep, Wanted } from "./stage.js";

interface Waiter {
  readonly accepts: (step: ModelStep) => boolean;
  readonly resolve: (step: ModelStep) => void;
}

/** Whether a text stands in what a request gives the model to read. */
export const carries = ({ texts }: ModelStep, text: string): boolean => texts.some((other) => other.includes(text));

/** Whether one of several texts does. */
export const carriesAny = (step: ModelStep, texts: readonly string[]): boolean =>
  texts.some((text) => carries(step, text));

/**
 * The requests that came in behind an agent, and who waits for which: {@link Behind} for a vendor fake, which adds each
 * request as it arrives.
 *
 * @example
 * ```ts
 * const behind = new StepQueue();
 * behind.add(step); // in the fake, whenever the agent asks for something
 * const steer = await behind.next("a word of the steer");
 * ```
 */
export class StepQueue implements Behind {
  #steps: ModelStep[] = [];
  readonly #taken = new WeakSet<ModelStep>();
  readonly #waiters = new Set<Waiter>();

  /** A request has arrived. */
  add(step: ModelStep): void {
    this.#steps.push(step);
    for (const waiter of this.#waiters) {
      if (!waiter.accepts(step)) continue;
      this.#waiters.delete(waiter);
      this.#taken.add(step);
      return waiter.resolve(step);
    }
  }

  /** A request was none of those that cases are about. */
  remove(step: ModelStep): void {
    this.#steps = this.#steps.filter((other) => other !== step);
  }

  next(wanted: Wanted, signal?: AbortSignal): Promise<ModelStep> {
    const accepts = typeof wanted === "string" ? (step: ModelStep) => carries(step, wanted) : wanted;
    const step = this.#steps.find((other) => !this.#taken.has(other) && accepts(other));
    if (step !== undefined) {
      this.#taken.add(step);
      return Promise.resolve(step);
    }
    return new Promise((resolve, reject) => {
      const waiter: Waiter = { accepts, resolve };
      this.#waiters.add(waiter);
      signal?.addEventListener("abort", () => {
        if (this.#waiters.delete(waiter)) reject(signal.reason);
      });
    });
  }

  steps(mark: string): readonly ModelStep[] {
    return this.#steps.filter((step) => carries(step, mark));
  }

  /** Whether a case has taken the request. */
  isTaken(step: ModelStep): boolean {
    return this.#taken.has(step);
  }

  /** Drops every request. Who waits goes on waiting. */
  clear(): void {
    this.#steps = [];
  }
}
