/**
 * The tool call ids of one session as ACP shows them.
 *
 * Some models count their calls anew in every request. The first call of an id keeps it, later ones are numbered by
 * their occurrence: the same live and in a replay, so that a client finds a call again.
 */
export class ToolIds {
  readonly #seen = new Map<string, number>();

  /** Counts anew, for a replay of all calls so far. */
  restart(): this {
    this.#seen.clear();
    return this;
  }

  /** The id for the next call that the model gave this one. */
  next(id: string): string {
    const count = (this.#seen.get(id) ?? 0) + 1;
    this.#seen.set(id, count);
    return count === 1 ? id : `${id}#${count}`;
  }
}
