import { check } from "@acp-steering/testkit";
import { expect, test } from "vitest";
import { adapterCommand, configureHermes, temporaryFolder } from "./adapter-stage.js";

const MINUTES = 60_000;
/** The model server's address is known only when Hermes is configured. */
const MODEL_VARIABLE = "SCRIPTED_MODEL_URL";

test(
  "acp-steer check finds the adapter with the real Hermes conformant",
  async () => {
    const home = await temporaryFolder();
    await configureHermes(home, `\${${MODEL_VARIABLE}}`);
    const { command, args, env } = adapterCommand(home);
    const report = await check({
      command,
      args,
      env: { ...env, [MODEL_VARIABLE]: "{model-url}" },
      modelServer: "openai-chat",
    });
    const failed = report.requirements.filter(({ verdict }) => verdict === "fail");
    expect(failed.map(({ id, cases }) => [id, cases.flatMap(({ problems }) => problems)])).toEqual([]);
    expect(report.conformant).toBe(true);
    expect(report.boundary).toBeDefined();
  },
  20 * MINUTES,
);
