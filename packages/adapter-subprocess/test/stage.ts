import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { WireClient } from "@acp-steering/testkit";
import { type ModelServer, type Script, startModelServer } from "@acp-steering/testkit/model-server";
import { onTestFinished } from "vitest";
import { PI_0_73, type Pi } from "./pis.js";

const CLI = fileURLToPath(new URL("../dist/cli.js", import.meta.url));

/** The built adapter as a process, over stdio. */
export async function spawnAdapter(
  args: readonly string[],
  environment: Record<string, string> = {},
): Promise<WireClient> {
  if (!existsSync(CLI)) throw new Error("The adapter is not built. Run `npm run build` first.");
  const client = await WireClient.spawn({
    command: process.execPath,
    args: [CLI, ...args],
    env: { ...process.env, ...environment },
  });
  onTestFinished(async () => {
    await client.close();
  });
  return client;
}

/** The built adapter with a child of ours in the place of Pi: only for faults that the real Pi cannot be made to have. */
export function spawnWithFake(fixture: string, ...args: string[]): Promise<WireClient> {
  const path = fileURLToPath(new URL(`fixtures/${fixture}`, import.meta.url));
  return spawnAdapter(["--dialect", "pi-rpc", "--start-timeout", "20", "--", process.execPath, path, ...args]);
}

export async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "acp-steering-pi-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));
  return folder;
}

export interface Stage {
  readonly model: ModelServer;
  readonly client: WireClient;
  /** The folder that the sessions work in. */
  readonly cwd: string;
  readonly sessionId: string;
  /** Where this Pi keeps its settings and extensions. */
  readonly configuration: string;
}

export interface StageOptions {
  /** Default: the one that runs on every Node.js that we support. */
  readonly pi?: Pi;
  readonly piArguments?: readonly string[];
  readonly settings?: Readonly<Record<string, unknown>>;
  /** Prompt templates by name. */
  readonly templates?: Readonly<Record<string, string>>;
  /** Source of a Pi extension. */
  readonly extension?: string;
  /** Skills by name. */
  readonly skills?: Readonly<Record<string, string>>;
  readonly clientCapabilities?: Record<string, unknown>;
}

/** The real Pi behind the built adapter, with a scripted model, one session open. */
export async function openStage(script: Script, options: StageOptions = {}): Promise<Stage> {
  const model = await startModelServer({ script });
  onTestFinished(() => model.close());
  const cwd = await temporaryFolder();
  const configuration = await temporaryFolder();
  await configurePi(configuration, model.url, options);
  const client = await spawnPi(configuration, options);
  return { model, client, cwd, configuration, sessionId: await client.newSession(cwd) };
}

/** One more adapter with the same Pi, which knows the same sessions. */
export async function spawnPi(configuration: string, options: StageOptions = {}): Promise<WireClient> {
  const { pi = PI_0_73, piArguments = [] } = options;
  const command = [...(await pi.command()), "--mode", "rpc", ...piArguments];
  const client = await spawnAdapter(["--dialect", "pi-rpc", "--", ...command], {
    PI_CODING_AGENT_DIR: configuration,
    PI_OFFLINE: "1",
  });
  await client.initialize(options.clientCapabilities);
  return client;
}

async function configurePi(folder: string, modelUrl: string, options: StageOptions): Promise<void> {
  const { settings, extension, templates = {}, skills = {} } = options;
  const scripted = { id: "scripted", input: ["text", "image"], contextWindow: 128_000 };
  const thinker = { ...scripted, id: "thinker", name: "Thinker", reasoning: true };
  const provider = { baseUrl: modelUrl, api: "openai-completions", apiKey: "none", models: [scripted, thinker] };
  await writeFile(join(folder, "models.json"), JSON.stringify({ providers: { scripted: provider } }));
  const defaults = { defaultProvider: "scripted", defaultModel: "scripted", quietStartup: true };
  const retry = { enabled: true, maxRetries: 1, baseDelayMs: 10 };
  await writeFile(join(folder, "settings.json"), JSON.stringify({ ...defaults, retry, ...settings }));
  await mkdir(join(folder, "prompts"));
  for (const [name, text] of Object.entries(templates)) await writeFile(join(folder, "prompts", `${name}.md`), text);
  for (const [name, text] of Object.entries(skills)) {
    await mkdir(join(folder, "skills", name), { recursive: true });
    await writeFile(join(folder, "skills", name, "SKILL.md"), text);
  }
  if (extension === undefined) return;
  await mkdir(join(folder, "extensions"));
  await writeFile(join(folder, "extensions", "test.ts"), extension);
}

/** What the model was told by the user, request by request. */
export function userTexts(model: ModelServer): string[][] {
  return model.requests.map(({ messages }) => messages.filter(({ role }) => role === "user").map(({ text }) => text));
}

/**
 * Until Pi has those steers. It answers what it is told in order, and the adapter hands a steer over when the one before is
 * answered: as many questions later, all have been.
 */
export async function untilPiHas(steers: number, client: WireClient, sessionId: string): Promise<void> {
  const same = { sessionId, configId: "model", value: "scripted/scripted" };
  for (let asked = 0; asked < steers; asked += 1) await client.request("session/set_config_option", same);
}
