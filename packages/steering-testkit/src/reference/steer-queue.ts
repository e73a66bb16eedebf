import type { InjectCall, Verdict } from "@acp-steering/core";

/** The steers of one session on their way into its run: those of the run that is open, or of the one about to begin. */
export class SteerQueue {
  readonly #steers: InjectCall[] = [];
  readonly #early = new Set<() => void>();
  #isOpen = false;

  /** A run begins: what came before it is its own. */
  open(): void {
    this.#isOpen = true;
    for (const join of this.#early) join();
    this.#early.clear();
  }

  /** `accepted` while a run is open. Without one the verdict waits until one begins, or core gives up: `tooLate`. */
  add(call: InjectCall): Promise<Verdict> {
    return new Promise((resolve) => {
      const join = (): void => {
        this.#steers.push(call);
        resolve("accepted");
      };
      if (this.#isOpen) return join();
      this.#early.add(join);
      call.signal.addEventListener("abort", () => {
        this.#early.delete(join);
        resolve("tooLate");
      });
    });
  }

  /** All that waits, in order; whoever takes it puts it before the model. */
  take(): readonly InjectCall[] {
    return this.#steers.splice(0);
  }

  /** The run is over. What the model has not seen goes back to core. */
  close(): void {
    this.#isOpen = false;
    for (const steer of this.take()) steer.undelivered();
  }
}
