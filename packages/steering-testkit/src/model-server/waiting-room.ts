import { ModelServerError } from "./errors.js";

interface Waiter {
  check(): boolean;
  fail(why: string): void;
}

/** Promises for what has not happened yet: each is asked again whenever something did. */
export class WaitingRoom {
  readonly #waiters = new Set<Waiter>();

  /** Resolves with the first value of `probe` that is not undefined; rejects when the room is emptied first. */
  until<Value>(probe: () => Value | undefined, waitingFor: string): Promise<Value> {
    const promise = new Promise<Value>((resolve, reject) => {
      const waiter: Waiter = {
        check: () => {
          const value = probe();
          if (value !== undefined) resolve(value);
          return value !== undefined;
        },
        fail: (why) => reject(new ModelServerError("waitEnded", `${why} while a test waited for ${waitingFor}.`)),
      };
      if (!waiter.check()) this.#waiters.add(waiter);
    });
    // Whoever no longer waits when the room is emptied must not see an unhandled rejection.
    promise.catch(() => {});
    return promise;
  }

  changed(): void {
    for (const waiter of [...this.#waiters]) if (waiter.check()) this.#waiters.delete(waiter);
  }

  empty(why: string): void {
    for (const waiter of this.#waiters) waiter.fail(why);
    this.#waiters.clear();
  }
}
