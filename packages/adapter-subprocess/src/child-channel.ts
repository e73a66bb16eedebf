import type { Log } from "@acp-steering/kit/adapter";
import { isRecord, type JsonRecord } from "@acp-steering/kit/adapter";
import type { ChildExit, SpawnedChild } from "@acp-steering/kit/process";
import { LineReader, LineTooLongError, StderrTail, spawnChild, whenMute } from "@acp-steering/kit/process";
import type { Channel, Dialect, Listener } from "./dialect.js";

export interface ChannelOptions {
  readonly dialect: Dialect;
  readonly command: readonly [string, ...string[]];
  /** Added to the command. */
  readonly extraArguments?: readonly string[];
  readonly cwd: string;
  readonly log: Log;
  readonly logContent: boolean;
}

/** The lines that are not records are counted after this many, not logged one by one. */
const LOGGED_RUBBISH_LINES = 5;

/** How long what the child wrote last may take to arrive after its end. */
const PIPE_GRACE_MS = 500;

/** One child process and who speaks with it. */
export class ChildChannel<Hearer extends Listener> implements Channel {
  readonly cwd: string;
  readonly log: Log;
  readonly listener: Hearer;
  /** Resolves when the child is gone and everything it wrote has been read. */
  readonly ended: Promise<void>;
  readonly #child: SpawnedChild;
  readonly #options: ChannelOptions;
  readonly #stderr = new StderrTail();
  #alive = true;
  #fault: string | undefined;
  #rubbishLines = 0;

  /**
   * @param listen is called with the channel when the child runs
   * @throws Error that says what to install when there is no such command
   */
  static async open<Hearer extends Listener>(
    options: ChannelOptions,
    listen: (channel: Channel) => Hearer,
  ): Promise<ChildChannel<Hearer>> {
    const { dialect, command, extraArguments = [], cwd } = options;
    const [executable, ...args] = command;
    const child = await spawnChild({
      command: executable,
      args: [...args, ...extraArguments],
      cwd,
      env: environmentOf(dialect),
      ...(dialect.install !== undefined && { install: dialect.install }),
    });
    return new ChildChannel(child, options, listen);
  }

  private constructor(child: SpawnedChild, options: ChannelOptions, listen: (channel: Channel) => Hearer) {
    this.#child = child;
    this.#options = options;
    this.cwd = options.cwd;
    this.log = options.log;
    this.listener = listen(this);
    whenMute(child, () => this.#stopFor("closed its output"));
    this.ended = this.#follow();
  }

  get alive(): boolean {
    return this.#alive;
  }

  async send(record: JsonRecord): Promise<void> {
    const { stdin } = this.#child;
    if (!stdin.writable) return;
    if (stdin.write(`${oneLine(record)}\n`)) return;
    await Promise.race([new Promise<void>((resolve) => stdin.once("drain", resolve)), this.#child.exited]);
  }

  async stop(): Promise<void> {
    this.#alive = false;
    // Its input stays open: an agent that sees its end first may leave before SIGTERM tells it to end its tools too.
    await this.#child.stop();
    await this.ended;
  }

  async #follow(): Promise<void> {
    const { exited, stdout, stderr } = this.#child;
    void exited.then(() => {
      // A descendant that left the process group can hold the pipes open for as long as it likes.
      setTimeout(() => [stdout, stderr].map((stream) => stream.destroy()), PIPE_GRACE_MS).unref();
    });
    const [exit] = await Promise.all([exited, this.#readRecords(), this.#readStderr()]);
    this.#alive = false;
    this.listener.ended(new Error(this.#describeEnd(exit)));
  }

  async #readRecords(): Promise<void> {
    const reader = new LineReader();
    try {
      for await (const chunk of this.#child.stdout) {
        for (const line of reader.push(chunk as Buffer)) this.#receive(line);
        await this.listener.drained?.();
      }
      for (const line of reader.end()) this.#receive(line);
    } catch (error) {
      if (!(error instanceof LineTooLongError)) return;
      this.#stopFor(`wrote ${error.message}`);
    }
  }

  #stopFor(fault: string): void {
    this.#fault = fault;
    void this.#child.stop();
  }

  #receive(line: string): void {
    const record = parseRecord(line);
    if (record) this.#hand(record);
    else if (line.trim() !== "") this.#logRubbish(line);
  }

  #hand(record: JsonRecord): void {
    try {
      this.listener.receive(record);
    } catch (error) {
      // One record that we misread must not cost the records behind it.
      const { log, dialect } = this.#options;
      log(
        `cannot read a record of ${dialect.title} (type ${JSON.stringify(record["type"])}): ${(error as Error).message}`,
      );
    }
  }

  #logRubbish(line: string): void {
    this.#rubbishLines += 1;
    if (this.#rubbishLines > LOGGED_RUBBISH_LINES) return;
    const { log, logContent, dialect } = this.#options;
    const content = logContent ? `: ${line.slice(0, 500)}` : "";
    log(`${dialect.title} wrote a line that is no JSON object (${Buffer.byteLength(line)} bytes), ignored${content}`);
    if (this.#rubbishLines === LOGGED_RUBBISH_LINES) log("more of these lines are not logged");
  }

  async #readStderr(): Promise<void> {
    const { log, logContent, dialect } = this.#options;
    try {
      for await (const chunk of this.#child.stderr) {
        for (const line of this.#stderr.push(chunk as Buffer)) if (logContent) log(`${dialect.title}: ${line}`);
      }
    } catch {
      // Destroyed after the child's end, above: what it said until then is kept.
    }
  }

  #describeEnd(exit: ChildExit): string {
    const { command } = this.#options;
    const how = exit.signal ? `was ended by ${exit.signal}` : `ended with exit code ${exit.code}`;
    const what = `"${command.join(" ")}" ${this.#fault ? `${this.#fault} and was stopped` : how}`;
    const said = this.#stderr.lines();
    return said.length > 0 ? `${what}. It said: ${said.join(" | ")}` : what;
  }
}

/** What a child of the dialect finds in its environment. */
export function environmentOf(dialect: Dialect): Record<string, string | undefined> {
  return { ...process.env, ...dialect.environment };
}

/** Some readers, Node's `readline` among them, also end a line at U+2028 and U+2029, which JSON allows in its strings. */
function oneLine(record: JsonRecord): string {
  return JSON.stringify(record).replaceAll("\u2028", "\\u2028").replaceAll("\u2029", "\\u2029");
}

function parseRecord(line: string): JsonRecord | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
