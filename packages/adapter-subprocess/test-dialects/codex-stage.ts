import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";
import { ensureVendor } from "../../../scripts/vendors.mjs";

/** The real Codex, installed beside the peer that is built on it. */
export async function codexExecutable(): Promise<string> {
  return join(dirname(await ensureVendor("codex-acp")), "codex");
}

/** How Codex asks before it runs a command, and where. */
export interface CodexPlace {
  readonly modelUrl: string;
  /** Stands in the place of the user's own folder of settings and sessions. */
  readonly configuration: string;
  /** Added to config.toml, before its first table. */
  readonly settings?: string;
}

/** A command that starts the real Codex with a scripted model, without the network. */
export async function codexCommand(place: CodexPlace): Promise<[string, ...string[]]> {
  const { modelUrl, configuration, settings = READ_ONLY } = place;
  await writeFile(join(configuration, "config.toml"), configOf(modelUrl, settings));
  const environment = [`CODEX_HOME=${configuration}`, `HOME=${configuration}`, "OPENAI_API_KEY=none"];
  return ["env", ...environment, await codexExecutable(), "app-server"];
}

/** Asks before a command that wants out of the sandbox. */
const READ_ONLY = 'approval_policy = "on-request"\nsandbox_mode = "read-only"';

export const NEVER_ASKS = 'approval_policy = "never"\nsandbox_mode = "danger-full-access"';

function configOf(modelUrl: string, settings: string): string {
  return `
model = "scripted"
model_provider = "scripted"
check_for_update_on_startup = false
${settings}
[analytics]
enabled = false
[features]
plugins = false
[model_providers.scripted]
name = "scripted"
base_url = "${modelUrl}"
wire_api = "responses"
env_key = "OPENAI_API_KEY"
request_max_retries = 0
stream_max_retries = 0
`;
}

export async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "acp-steering-codex-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));
  return folder;
}
