import { writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { steeringAgent } from "@acp-steering/kit";
import { WireClient } from "@acp-steering/testkit";
import { type ModelServer, type Script, startModelServer } from "@acp-steering/testkit/model-server";
import { onTestFinished } from "vitest";
import { ensureVendor } from "../../../scripts/vendors.mjs";
import { codexAppServer, subprocessVendor } from "../src/index.js";
import { temporaryFolder } from "./stage.js";

/** The real Codex, installed beside the peer that is built on it. */
async function codexExecutable(): Promise<string> {
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

/** The context is large, so that a steer of a million characters is not summed up. */
function configOf(modelUrl: string, settings: string): string {
  return `
model = "scripted"
model_provider = "scripted"
model_context_window = 4000000
model_auto_compact_token_limit = 4000000
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

export interface CodexStage {
  readonly model: ModelServer;
  readonly client: WireClient;
  readonly cwd: string;
  readonly sessionId: string;
  /** What the client was given with the session. */
  readonly opened: Readonly<Record<string, unknown>>;
  /** Another client, of an adapter of its own, with the same Codex settings, sessions and model. */
  connect(): Promise<WireClient>;
}

/** The real Codex behind the adapter, with a scripted model, one session open. */
export async function openCodex(script: Script, settings?: string): Promise<CodexStage> {
  const model = await startModelServer({ script });
  onTestFinished(() => model.close());
  const cwd = await temporaryFolder();
  const configuration = await temporaryFolder();
  const command = await codexCommand({
    modelUrl: model.url,
    configuration,
    ...(settings !== undefined && { settings }),
  });
  const connect = async (): Promise<WireClient> => {
    const client = WireClient.connect(
      steeringAgent(subprocessVendor({ dialect: codexAppServer, command, log: () => {} })),
    );
    onTestFinished(async () => {
      await client.close();
    });
    await client.initialize(RECEIPTS);
    return client;
  };
  const client = await connect();
  const opened = await client.request<{ sessionId: string }>("session/new", { cwd, mcpServers: [] });
  return { model, client, cwd, sessionId: opened.sessionId, opened: { ...opened }, connect };
}

const RECEIPTS = { _meta: { steering: { receipts: true } } };

/** What the model was told by the user, request by request, without what Codex says of itself. */
export function userTexts(model: ModelServer): string[][] {
  return model.requests.map(({ messages }) =>
    messages.filter(({ role, text }) => role === "user" && !text.startsWith("<")).map(({ text }) => text),
  );
}
