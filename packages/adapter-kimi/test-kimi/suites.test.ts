import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { check, playScene, type SceneEvent, startSceneModel, writeProject } from "@acp-steering/testkit";
import { expect, onTestFinished, test } from "vitest";
import { adapterCommand, configureKimi, temporaryFolder } from "./stage.js";

const WITH_MODEL = fileURLToPath(new URL("fixtures/with-model.mjs", import.meta.url));
const TIMEOUT_MS = 1_200_000;

test("the scene of npm start passes with the real Kimi", async () => {
  const model = await startSceneModel();
  onTestFinished(() => model.server.close());
  const home = await temporaryFolder();
  await configureKimi(home, model.server.url);
  const project = join(await temporaryFolder(), "project");
  await mkdir(project);
  await writeProject(project);
  const { command, args } = await adapterCommand(home);
  const broken: SceneEvent[] = [];
  const { passed } = await playScene({
    command,
    args,
    env: process.env,
    cwd: project,
    project,
    model,
    report: (event) => {
      if (event.type === "check" && event.verdict !== "true") broken.push(event);
    },
  });
  expect(broken).toEqual([]);
  expect(passed).toBe(true);
});

test(
  "acp-steer check finds everything that must hold with the real Kimi",
  async () => {
    const home = await temporaryFolder();
    await configureKimi(home, "to be replaced");
    const { command, args } = await adapterCommand(home);
    const report = await check({
      command,
      args: [WITH_MODEL, "{model-url}", ...args],
      modelServer: "openai-chat",
    });
    const failed = report.requirements.filter(({ verdict }) => verdict === "fail");
    expect(failed).toEqual([]);
    expect(report.conformant).toBe(true);
  },
  TIMEOUT_MS,
);
