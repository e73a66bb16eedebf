/** One command of `acp-steer`; a further one is a further file and a further entry in `commands.ts`. */
export interface Command {
  readonly help: string;
  /**
   * @param args what stands behind the command's name
   * @returns the exit code
   * @throws UsageError
   */
  run(args: readonly string[]): Promise<number>;
}

/** A command as the help shows it; what it needs is loaded when it is called. */
export interface CommandEntry {
  readonly name: string;
  /** What it does, in a few words. */
  readonly summary: string;
  load(): Promise<Command>;
}
