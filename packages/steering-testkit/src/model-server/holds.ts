import { ModelServerError } from "./errors.js";
import type { ModelRequest } from "./request.js";
import type { WaitingRoom } from "./waiting-room.js";

interface Held {
  readonly name: string;
  readonly request: ModelRequest;
  letGo(): void;
}

/** Most likely a misspelt name, which would otherwise show as a test that hangs. */
const unknownHold = (name: string, heldNow: readonly string[]): ModelServerError => {
  const now = heldNow.length === 0 ? "nothing is held now" : `held now: ${heldNow.join(", ")}`;
  return new ModelServerError(
    "unknownHold",
    `No reply has been held as "${name}" yet (${now}). Wait for held("${name}") before the release.`,
  );
};

/** The replies that wait for their release. */
export class Holds {
  readonly #room: WaitingRoom;
  readonly #held = new Set<Held>();
  readonly #known = new Set<string>();

  constructor(room: WaitingRoom) {
    this.#room = room;
  }

  /** Holds a reply until its release; rejects with the signal's reason when the client goes away first. */
  hold(name: string, request: ModelRequest, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        this.#held.delete(held);
        signal.removeEventListener("abort", abort);
      };
      const abort = (): void => {
        leave();
        reject(signal.reason);
      };
      const held: Held = {
        name,
        request,
        letGo: () => {
          leave();
          resolve();
        },
      };
      if (signal.aborted) return reject(signal.reason);
      signal.addEventListener("abort", abort);
      this.#held.add(held);
      this.#known.add(name);
      this.#room.changed();
    });
  }

  list(): readonly { readonly name: string; readonly request: number }[] {
    return [...this.#held].map(({ name, request }) => ({ name, request: request.index }));
  }

  whenHeld(name: string, after: number): Promise<ModelRequest> {
    return this.#room.until(
      () => [...this.#held].find((held) => held.name === name && held.request.index > after)?.request,
      `a reply held as "${name}"`,
    );
  }

  release(name: string): number {
    if (!this.#known.has(name)) {
      throw unknownHold(
        name,
        this.list().map((held) => held.name),
      );
    }
    const released = [...this.#held].filter((held) => held.name === name);
    for (const held of released) held.letGo();
    return released.length;
  }

  /** Names known until now are unknown from here on. What is still held ends with its connection. */
  clear(): void {
    this.#known.clear();
  }
}
