/** How long an interrupted run may take to settle, in milliseconds. */
const INTERRUPT_GRACE_MS = 5_000;

/**
 * Watches a turn for a cancel that the vendor does not react to.
 *
 * @param signal the turn's
 * @param stuck called when the run has not ended 5 s after the cancel; `"wait"` asks to be called again 5 s later
 * @returns `end()`, to be called when the run has settled
 * @example
 * ```ts
 * const watch = whenStuck(turn.signal, () => void child.stop());
 * try { return await run(turn); } finally { watch.end(); }
 * ```
 */
export function whenStuck(signal: AbortSignal, stuck: () => "wait" | undefined): { end(): void } {
  let timer: NodeJS.Timeout | undefined;
  const arm = (): void => {
    timer = setTimeout(() => {
      if (stuck() === "wait") arm();
    }, INTERRUPT_GRACE_MS);
  };
  signal.addEventListener("abort", arm, { once: true });
  return {
    end: () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", arm);
    },
  };
}
