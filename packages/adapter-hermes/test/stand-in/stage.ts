import { execFileSync } from "node:child_process";
import { constants, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { mkdtemp, open, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ModelServer, type Script, startModelServer } from "@acp-steering/testkit/model-server";
import { onTestFinished } from "vitest";
import { BridgeProcess, STAND_IN_PYTHON } from "./bridge-process.js";

/** A key that must never be seen anywhere. */
export const SECRET = "sk-never-to-be-seen-1234567890";

export interface StageOptions {
  readonly script?: Script;
  /** Added to the configuration of the stand-in. */
  readonly configuration?: Readonly<Record<string, unknown>>;
  readonly env?: NodeJS.ProcessEnv;
  /** The stand-in's where none is given. */
  readonly python?: string;
  /** How large the model's window is said to be. */
  readonly contextLength?: number;
  /** When the stage is cleared away; by default with the test. */
  readonly atEnd?: AtEnd;
}

type AtEnd = (clear: () => Promise<void>) => void;

/** A Hermes home with a model behind it, and what makes the stand-in stop or fail. */
export class Home {
  readonly path: string;

  constructor(path: string, configuration: Readonly<Record<string, unknown>>) {
    this.path = path;
    for (const folder of ["gates", "faults"]) mkdirSync(join(path, folder), { recursive: true });
    writeFileSync(join(path, "config.yaml"), JSON.stringify(configuration));
  }

  /** The next turn goes wrong in this way. */
  fault(name: string): void {
    writeFileSync(join(this.path, "faults", name), "");
  }

  /**
   * The next turn stops at this point.
   *
   * @returns resolves, when the turn is there, with what lets it go on
   */
  gate(name: string): Promise<() => Promise<void>> {
    const path = join(this.path, "gates", name);
    execFileSync("mkfifo", [path]);
    // Opening for writing waits for the reader.
    const opened = open(path, "w").then((file) => {
      let closing: Promise<void> | undefined;
      return () => {
        closing ??= file.close();
        return closing;
      };
    });
    onTestFinished(async () => {
      // Where nobody came, the opening still waits: the reader that it waits for is we.
      const reader = await open(path, constants.O_RDONLY | constants.O_NONBLOCK).catch(() => undefined);
      await (await opened)();
      await reader?.close();
      rmSync(path, { force: true });
    });
    return opened;
  }
}

export interface Stage {
  readonly bridge: BridgeProcess;
  readonly model: ModelServer;
  readonly home: Home;
  /** The folder that the session works in. */
  readonly cwd: string;
  readonly session: string;
}

/** The environment of a bridge: this one's, this home, and no proxy before the model on loopback. */
export function environment(home: string, more: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv {
  return { ...process.env, HERMES_HOME: home, NO_PROXY: "127.0.0.1", no_proxy: "127.0.0.1", ...more };
}

export async function temporaryFolder(atEnd: AtEnd = onTestFinished): Promise<string> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "acp-steering-hermes-")));
  atEnd(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));
  return folder;
}

/** A bridge process over the home, which ends by itself. */
export function startBridge(
  home: string,
  { env = {}, python = STAND_IN_PYTHON, atEnd = onTestFinished }: StageOptions = {},
): BridgeProcess {
  const bridge = new BridgeProcess(environment(home, env), python);
  atEnd(async () => {
    bridge.letGo();
    await bridge.exited();
  });
  return bridge;
}

export async function createHome(options: StageOptions = {}): Promise<{ home: Home; model: ModelServer }> {
  const { script = [], configuration = {}, contextLength, atEnd = onTestFinished } = options;
  const model = await startModelServer({ script });
  atEnd(() => model.close());
  const settings = {
    provider: "custom",
    default: "scripted",
    base_url: model.url,
    api_key: SECRET,
    context_length: contextLength,
  };
  const home = new Home(await temporaryFolder(atEnd), { model: settings, ...configuration });
  return { home, model };
}

/** The bridge with one open session. */
export async function createStage(options: StageOptions = {}): Promise<Stage> {
  const { home, model } = await createHome(options);
  const bridge = startBridge(home.path, options);
  await bridge.greet();
  const cwd = await temporaryFolder(options.atEnd);
  const { session } = await bridge.request("open", { cwd });
  return { bridge, model, home, cwd, session };
}

/** Begins a turn; the answer comes with its end. */
// biome-ignore lint/suspicious/noExplicitAny: tests look into results as they are
export function prompt({ bridge, session }: Stage, turn: string, text: string = turn): Promise<any> {
  return bridge.request("prompt", { session, turn, content: text, text });
}

export async function steer(
  { bridge, session }: Stage,
  turn: string,
  id: string,
  text: string = id,
  now = false,
): Promise<string> {
  const { verdict } = await bridge.request("steer", { session, turn, steer: id, text, now });
  return verdict;
}

/** A command that runs until `release` is called, and what says that it runs. */
export function heldCommand(home: Home, name = "command"): { command: string; running: Promise<() => Promise<void>> } {
  const running = home.gate(name);
  return { command: `cat '${join(home.path, "gates", name)}'; echo over`, running };
}

/** A reply of the model that runs a command. */
export const run = (command: string) => ({ toolCalls: [{ name: "terminal", arguments: { command } }] });

/** What the model was given by the user and by tools with its request number `index`, in one text. */
export function told(model: ModelServer, index: number): string {
  const messages = model.requests[index]?.messages ?? [];
  return messages
    .filter(({ role }) => role === "user" || role === "tool")
    .map(({ text }) => text)
    .join("\n");
}
