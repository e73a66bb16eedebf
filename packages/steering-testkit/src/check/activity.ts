import { rejectable } from "../scene/watchdog.js";

/** Signs of life: of an agent on its wire, and of its requests to the model. */
export class Activity {
  readonly #listeners = new Set<() => void>();

  touch(): void {
    for (const listener of this.#listeners) listener();
  }

  /** Resolves after so many milliseconds without a sign, or after `atMost` of them with some. */
  async quiet(milliseconds: number, atMost: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(end, milliseconds);
      const limit = setTimeout(end, atMost);
      const refresh = (): void => void timer.refresh();
      this.#listeners.add(refresh);
      const listeners = this.#listeners;
      function end(): void {
        clearTimeout(timer);
        clearTimeout(limit);
        listeners.delete(refresh);
        resolve();
      }
    });
  }

  /**
   * What the work gives, unless there is no sign for `silenceMs`, or it takes more than `totalMs`.
   *
   * @param errorOf the error for each of the two, from the time in milliseconds that was waited in vain
   */
  async guard<Value>(
    work: Promise<Value>,
    { silenceMs, totalMs }: { readonly silenceMs: number; readonly totalMs: number },
    errorOf: (why: string) => Error,
  ): Promise<Value> {
    const { promise, reject } = rejectable();
    const silence = setTimeout(() => reject(errorOf(`nothing happened for ${silenceMs / 1_000} s`)), silenceMs);
    const total = setTimeout(() => reject(errorOf(`it was not over after ${totalMs / 1_000} s`)), totalMs);
    const refresh = (): void => void silence.refresh();
    this.#listeners.add(refresh);
    try {
      return await Promise.race([work, promise]);
    } finally {
      this.#listeners.delete(refresh);
      clearTimeout(silence);
      clearTimeout(total);
    }
  }
}
