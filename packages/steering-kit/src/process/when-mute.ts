import type { SpawnedChild } from "./spawn-child.js";

/** A child that ends closes its output first; so long it may take. */
const END_MS = 2_000;

/**
 * Calls `act` when a child has closed its output and goes on: over that pipe it can say nothing more.
 *
 * @example
 * ```ts
 * whenMute(child, () => void child.stop());
 * ```
 */
export function whenMute({ stdout, exited }: Pick<SpawnedChild, "stdout" | "exited">, act: () => void): void {
  stdout.once("end", () => {
    const timer = setTimeout(act, END_MS);
    void exited.then(() => clearTimeout(timer));
  });
}
