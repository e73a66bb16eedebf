import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { ROOT } from "../scripts/repository.mjs";
import { run } from "./command.js";
import { firstAnswer } from "./first-answer.js";
import { copyWorkspace } from "./workspace-copy.js";

/** The commands of "Add an adapter", as they stand there. */
async function steps(): Promise<string[]> {
  const page = await readFile(join(ROOT, "CONTRIBUTING.md"), "utf8");
  return [...page.matchAll(/^ *```sh steps\r?\n([\s\S]*?)^ *```/gm)].flatMap(([, block = ""]) =>
    block
      .split("\n")
      .map((line) => line.trim())
      .filter((line) => line !== ""),
  );
}

test("an adapter that is begun by the steps of CONTRIBUTING.md builds, passes the suite and answers", async () => {
  const repository = await mkdtemp(join(tmpdir(), "acp-steering-adapter-"));
  onTestFinished(() => rm(repository, { recursive: true, force: true }));
  await copyWorkspace(repository);
  const commands = await steps();
  expect(commands.length).toBeGreaterThanOrEqual(6);
  for (const command of commands) await run("sh", ["-c", command], { cwd: repository });
  const cli = join(repository, "packages", "adapter-hello-world", "dist", "cli.js");
  expect(await firstAnswer("node", [cli], repository)).toMatchObject({
    agentInfo: { name: "hello-world", title: "Hello World" },
    _meta: { steering: { supported: true, emulated: false, delivery: "confirmed" } },
  });
});
