import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { WireClient } from "@acp-steering/testkit";
import { type ModelServer, type Script, startModelServer } from "@acp-steering/testkit/model-server";
import { onTestFinished } from "vitest";

const CLI = fileURLToPath(new URL("../dist/cli.js", import.meta.url));

export interface Stage {
  readonly model: ModelServer;
  readonly client: WireClient;
  readonly cwd: string;
  readonly home: string;
  readonly sessionId: string;
}

/** The interpreter with the real Hermes, as `npm run test:hermes` names it. */
export function hermesPython(): string {
  const python = process.env["HERMES_STEERING_PYTHON"];
  if (!python) throw new Error("No Hermes here. Run these tests with `npm run test:hermes`.");
  return python;
}

export async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "acp-steering-hermes-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));
  return folder;
}

export interface StageOptions {
  readonly clientCapabilities?: Record<string, unknown>;
}

/** The real Hermes behind the built adapter, with a scripted model, one session open. */
export async function openStage(script: Script, options: StageOptions = {}): Promise<Stage> {
  const model = await startModelServer({ script });
  onTestFinished(() => model.close());
  const home = await temporaryFolder();
  await configureHermes(home, model.url);
  const client = await startAdapter(home);
  await client.initialize(options.clientCapabilities);
  const cwd = await temporaryFolder();
  return { model, client, cwd, home, sessionId: await client.newSession(cwd) };
}

/** How an editor starts the built adapter; `env` is added to its own. */
export function adapterCommand(home: string): { command: string; args: string[]; env: Record<string, string> } {
  return {
    command: process.execPath,
    args: [CLI, "--python", hermesPython(), "--hermes-home", home],
    env: { HERMES_DISABLE_PLUGINS: "1", NO_PROXY: "127.0.0.1,localhost" },
  };
}

/** The built adapter as a process, over stdio. */
export async function startAdapter(home: string): Promise<WireClient> {
  if (!existsSync(CLI)) throw new Error("The adapter is not built. Run `npm run build` first.");
  const { command, args, env } = adapterCommand(home);
  const client = await WireClient.spawn({ command, args, env: { ...process.env, ...env } });
  onTestFinished(async () => {
    await client.close();
  });
  return client;
}

/** What keeps Hermes from asking the model for itself, and from looking for something on the network. */
const QUIET = { auxiliary: { title_generation: { enabled: false } }, security: { tirith_enabled: false } };

/** JSON is YAML too; Hermes puts the value of an environment variable in the place of `${NAME}`. */
export async function configureHermes(home: string, modelUrl: string): Promise<void> {
  const model = {
    provider: "custom",
    default: "scripted",
    base_url: modelUrl,
    api_key: "none",
    context_length: 4_000_000,
    supports_vision: true,
  };
  await writeFile(join(home, "config.yaml"), JSON.stringify({ model, ...QUIET }));
}
