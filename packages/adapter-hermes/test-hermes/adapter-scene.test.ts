import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { playScene, type SceneEvent, startSceneModel, writeProject } from "@acp-steering/testkit";
import { expect, onTestFinished, test } from "vitest";
import { adapterCommand, configureHermes, temporaryFolder } from "./adapter-stage.js";

test("the scene of npm start passes with the real Hermes", async () => {
  const model = await startSceneModel();
  onTestFinished(() => model.server.close());
  const home = await temporaryFolder();
  await configureHermes(home, model.server.url);
  const project = join(await temporaryFolder(), "project");
  await mkdir(project);
  await writeProject(project);
  const { command, args, env } = adapterCommand(home);
  const broken: SceneEvent[] = [];
  const { passed } = await playScene({
    command,
    args,
    env: { ...process.env, ...env },
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
