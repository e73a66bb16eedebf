/** Rejects `expired` when it was not touched for the given time, in milliseconds. */
export class Watchdog {
  readonly expired: Promise<never>;
  readonly #timer: NodeJS.Timeout;

  constructor(limitMs: number, errorOf: () => Error) {
    const { promise, reject } = rejectable();
    this.expired = promise;
    this.#timer = setTimeout(() => reject(errorOf()), limitMs);
  }

  touch(): void {
    this.#timer.refresh();
  }

  stop(): void {
    clearTimeout(this.#timer);
  }
}

/** A promise that only ever rejects, and whose rejection nobody has to handle. */
export function rejectable(): { readonly promise: Promise<never>; readonly reject: (error: Error) => void } {
  let reject: (error: Error) => void = () => {};
  const promise = new Promise<never>((_, rejectPromise) => {
    reject = rejectPromise;
  });
  promise.catch(() => {});
  return { promise, reject };
}
