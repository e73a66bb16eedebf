import { fileURLToPath } from "node:url";
import { check } from "@acp-steering/testkit";
import type { DialectName } from "@acp-steering/testkit/model-server";
import { expect, test } from "vitest";
import { claudeCommand } from "./claude-stage.js";
import { codexCommand } from "./codex-stage.js";
import { temporaryFolder } from "./stage.js";

const CLI = fileURLToPath(new URL("../dist/cli.js", import.meta.url));
const MINUTES = 60_000;

/** `{model-root}` and `{model-url}` are replaced by the check. */
const MODEL_URL = "{model-root}/v1";

async function claude(configuration: string): Promise<readonly string[]> {
  return claudeCommand({ modelUrl: MODEL_URL, configuration });
}

async function codex(configuration: string): Promise<readonly string[]> {
  const command = await codexCommand({ modelUrl: MODEL_URL, configuration });
  return [...command, "-c", `model_providers.scripted.base_url="${MODEL_URL}"`];
}

test.each<[dialect: string, command: (configuration: string) => Promise<readonly string[]>, modelServer: DialectName]>([
  ["claude-stream-json", claude, "anthropic"],
  ["codex-app-server", codex, "openai-responses"],
])(
  "acp-steer check finds the adapter with --dialect %s conformant",
  async (dialect, command, modelServer) => {
    const report = await check({
      command: process.execPath,
      args: [CLI, "--dialect", dialect, "--", ...(await command(await temporaryFolder()))],
      modelServer,
    });
    const failed = report.requirements.filter(({ verdict }) => verdict === "fail");
    expect(failed.map(({ id, cases }) => [id, cases.flatMap(({ problems }) => problems)])).toEqual([]);
    expect(report.conformant).toBe(true);
    expect(report.boundary).toBeDefined();
  },
  10 * MINUTES,
);
