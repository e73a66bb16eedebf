import { fileURLToPath } from "node:url";
import { check } from "@acp-steering/testkit";
import { expect, test } from "vitest";
import { temporaryFolder } from "./stage.js";
import { example } from "./steer-jsonl-wire.js";

const CLI = fileURLToPath(new URL("../dist/cli.js", import.meta.url));
const MINUTES = 60_000;

test.each(["agent.py", "agent.ts"] as const)(
  "acp-steer check finds the adapter with %s conformant",
  async (name) => {
    const report = await check({
      command: process.execPath,
      args: [CLI, "--dialect", "steer-jsonl", "--", ...(await example(name, await temporaryFolder()))],
      env: { OPENAI_BASE_URL: "{model-url}", OPENAI_API_KEY: "none" },
      modelServer: "openai-chat",
    });
    const failed = report.requirements.filter(({ verdict }) => verdict === "fail");
    expect(failed.map(({ id, cases }) => [id, cases.flatMap(({ problems }) => problems)])).toEqual([]);
    expect(report.conformant).toBe(true);
    expect(report.boundary).toBeDefined();
  },
  10 * MINUTES,
);
