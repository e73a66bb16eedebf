import { writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { steeringAgent } from "@acp-steering/kit";
import { WireClient } from "@acp-steering/testkit";
import { agentEnvironment, type ModelServer, type Script, startModelServer } from "@acp-steering/testkit/model-server";
import { onTestFinished } from "vitest";
import { ensureVendor } from "../../../scripts/vendors.mjs";
import { claudeStreamJson, subprocessVendor } from "../src/index.js";
import { temporaryFolder } from "./stage.js";

/** The real Claude Code, which comes with the peer that is built on it: a program of its own for each platform. */
async function claudeExecutable(): Promise<string> {
  const modules = dirname(dirname(await ensureVendor("claude-agent-acp")));
  const suffix = process.platform === "win32" ? ".exe" : "";
  return join(modules, "@anthropic-ai", `claude-agent-sdk-${process.platform}-${process.arch}`, `claude${suffix}`);
}

export interface ClaudePlace {
  readonly modelUrl: string;
  /** Stands in the place of the user's own folder of settings and sessions. */
  readonly configuration: string;
  /** What Claude Code may do without asking: its `permissions.defaultMode`. */
  readonly mode?: string;
  /** Added to its environment. */
  readonly environment?: Readonly<Record<string, string>>;
}

/** A command that starts the real Claude Code with a scripted model, without the network. */
export async function claudeCommand(place: ClaudePlace): Promise<[string, ...string[]]> {
  const { modelUrl, configuration, mode = "default", environment: added = {} } = place;
  const settings = { permissions: { defaultMode: mode }, promptSuggestionEnabled: false };
  await writeFile(join(configuration, "settings.json"), JSON.stringify(settings));
  const environment = {
    ...agentEnvironment("anthropic", modelUrl),
    HOME: configuration,
    CLAUDE_CONFIG_DIR: configuration,
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    CLAUDE_CODE_MAX_RETRIES: "0",
    DISABLE_AUTOUPDATER: "1",
    // Without it, nobody who is root may run what was not asked for.
    IS_SANDBOX: "1",
    ...added,
  };
  return ["env", ...Object.entries(environment).map(([name, value]) => `${name}=${value}`), await claudeExecutable()];
}

export const NEVER_ASKS = "bypassPermissions";

export interface ClaudeStage {
  readonly model: ModelServer;
  readonly client: WireClient;
  readonly cwd: string;
  readonly configuration: string;
  readonly sessionId: string;
  /** What the client was given with the session. */
  readonly opened: Readonly<Record<string, unknown>>;
  /** Another client, of an adapter of its own, with the same settings, sessions and model. */
  connect(): Promise<WireClient>;
}

export interface ClaudeSettings extends Pick<ClaudePlace, "mode" | "environment"> {
  /** What the client can do beside being told of receipts. */
  readonly capabilities?: object;
}

/** The real Claude Code behind the adapter, with a scripted model, one session open. */
export async function openClaude(
  script: Script,
  { capabilities = {}, ...settings }: ClaudeSettings = {},
): Promise<ClaudeStage> {
  const model = await startModelServer({ script });
  onTestFinished(() => model.close());
  const cwd = await temporaryFolder();
  const configuration = await temporaryFolder();
  const command = await claudeCommand({ ...settings, modelUrl: model.url, configuration });
  const connect = async (): Promise<WireClient> => {
    const vendor = subprocessVendor({ dialect: claudeStreamJson, command, log: () => {} });
    const client = WireClient.connect(steeringAgent(vendor));
    onTestFinished(async () => {
      await client.close();
    });
    await client.initialize({ ...capabilities, _meta: { steering: { receipts: true } } });
    return client;
  };
  const client = await connect();
  const opened = await client.request<{ sessionId: string }>("session/new", { cwd, mcpServers: [] });
  return { model, client, cwd, configuration, sessionId: opened.sessionId, opened: { ...opened }, connect };
}
