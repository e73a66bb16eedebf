import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { agentEnvironment, type DialectName } from "@acp-steering/testkit/model-server";
import { ensureVendor } from "../../../scripts/vendors.mjs";

/** How a real agent is started, with the scripted model in the place of its own. */
interface RealAgent {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
}

/** Sets one up for a model server; `configuration` is an empty folder in the place of the user's settings. */
export type SetUp = (modelUrl: string, configuration: string) => Promise<RealAgent>;

/** Without what else this shell tells an agent about its user, its keys or its sandbox. */
const KEPT = ["PATH", "Path", "TMPDIR", "TEMP", "SystemRoot", "LANG"];

const environment = (home: string, dialect: DialectName, modelUrl: string): NodeJS.ProcessEnv => ({
  ...Object.fromEntries(KEPT.map((name) => [name, process.env[name]])),
  HOME: home,
  ...agentEnvironment(dialect, modelUrl),
});

export const setUpClaude: SetUp = async (modelUrl, configuration) => {
  // It asks before it runs a command only in this mode, and suggests the next prompt by asking its model once more.
  const settings = { permissions: { defaultMode: "default" }, promptSuggestionEnabled: false };
  await writeFile(join(configuration, "settings.json"), JSON.stringify(settings));
  return {
    command: await ensureVendor("node24"),
    args: [await ensureVendor("claude-agent-acp")],
    env: {
      ...environment(configuration, "anthropic", modelUrl),
      CLAUDE_CONFIG_DIR: configuration,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      DISABLE_AUTOUPDATER: "1",
    },
  };
};

export const setUpCodex: SetUp = async (modelUrl, configuration) => {
  const scripted = { name: "scripted", base_url: modelUrl, wire_api: "responses", env_key: "OPENAI_API_KEY" };
  return {
    command: await ensureVendor("node24"),
    args: [await ensureVendor("codex-acp")],
    env: {
      ...environment(configuration, "openai-responses", modelUrl),
      CODEX_HOME: configuration,
      INITIAL_AGENT_MODE: "read-only",
      MODEL_PROVIDER: "scripted",
      CODEX_CONFIG: JSON.stringify({
        model: "scripted",
        model_provider: "scripted",
        model_providers: { scripted },
      }),
    },
  };
};

const kimiSettings = (modelUrl: string): string => `default_model = "scripted"
telemetry = false

[providers.local]
type = "openai"
base_url = "${modelUrl}"
api_key = "sk-none"

[models.scripted]
provider = "local"
model = "scripted-model"
max_context_size = 200000
capabilities = ["tool_use", "image_in", "thinking"]
`;

export const setUpKimi: SetUp = async (modelUrl, configuration) => {
  await writeFile(join(configuration, "config.toml"), kimiSettings(modelUrl));
  return {
    command: await ensureVendor("node24"),
    args: [await ensureVendor("kimi"), "acp"],
    env: {
      ...environment(configuration, "openai-chat", modelUrl),
      KIMI_CODE_HOME: configuration,
      KIMI_DISABLE_TELEMETRY: "1",
      KIMI_CODE_NO_AUTO_UPDATE: "1",
      KIMI_DISABLE_CRON: "1",
    },
  };
};

const PI_ADAPTER = fileURLToPath(new URL("../../adapter-subprocess/dist/cli.js", import.meta.url));

/** The real Pi behind its adapter, which has the layer in it. */
export const setUpPi: SetUp = async (modelUrl, configuration) => {
  const model = { id: "scripted", input: ["text", "image"], reasoning: true };
  const provider = { baseUrl: modelUrl, api: "openai-completions", apiKey: "none", models: [model] };
  const settings = { defaultProvider: "scripted", defaultModel: "scripted", quietStartup: true };
  await mkdir(configuration, { recursive: true });
  await writeFile(join(configuration, "models.json"), JSON.stringify({ providers: { scripted: provider } }));
  await writeFile(join(configuration, "settings.json"), JSON.stringify(settings));
  return {
    command: process.execPath,
    args: [PI_ADAPTER, "--dialect", "pi-rpc", "--", await ensureVendor("pi"), "--mode", "rpc"],
    env: {
      ...environment(configuration, "openai-chat", modelUrl),
      PI_CODING_AGENT_DIR: configuration,
      PI_OFFLINE: "1",
    },
  };
};
