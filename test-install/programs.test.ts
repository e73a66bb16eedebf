import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { snippetsOf } from "../scripts/check-snippets.mjs";
import { ROOT } from "../scripts/repository.mjs";
import { outcomeOf, run } from "./command.js";
import { firstAnswer } from "./first-answer.js";
import { install } from "./folder.js";

const TYPESCRIPT = ["typescript@5.9.3", "@types/node@20"];

/** The compiler's settings of somebody who trusts nobody's types. */
const COMPILER_OPTIONS = {
  strict: true,
  skipLibCheck: false,
  target: "es2022",
  module: "nodenext",
  lib: ["ES2023", "DOM"],
  types: ["node"],
};

/** The nth program of a page, written into a user's folder and compiled there. */
async function compile(folder: string, page: string, name: string, index = 0): Promise<string> {
  const { code = "" } = snippetsOf(await readFile(join(ROOT, page), "utf8"))[index] ?? {};
  expect(code, `${page} has a program ${index}`).not.toBe("");
  await writeFile(join(folder, `${name}.ts`), code);
  await writeFile(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions: COMPILER_OPTIONS }));
  await run("npx", ["--no-install", "tsc"], { cwd: folder });
  return join(folder, `${name}.js`);
}

describe("an agent's author", () => {
  let folder = "";
  let program = "";

  beforeAll(async () => {
    folder = await install("@acp-steering/core", "@agentclientprotocol/sdk", "acp-steer", ...TYPESCRIPT);
    program = await compile(folder, "README.md", "agent");
  });

  test("adds steering with one import: it compiles, library types checked, and says that it can be steered", async () => {
    const steering = { supported: true, emulated: false, delivery: "confirmed" };
    expect(await firstAnswer("node", [program], folder)).toMatchObject({ _meta: { steering } });
  });

  test("has it checked with npx acp-steer check", async () => {
    const check = ["--no-install", "acp-steer", "check", "--trials", "3", "--", "node", program];
    const { code, stdout } = await outcomeOf("npx", check, { cwd: folder });
    expect(code, stdout).toBe(0);
  });
});

/** The programs of the pages that can be steered: each is given to the host's program, and has to hear it. */
const AGENTS = [
  { page: "README.md", index: 0, what: "the first screen" },
  { page: "docs/steer-your-own-agent.md", index: 0, what: "an agent with an inbox" },
  { page: "docs/steer-your-own-agent.md", index: 1, what: "an agent with a driver" },
  { page: "docs/steer-your-own-agent.md", index: 2, what: "an agent made with the kit" },
  { page: "docs/write-an-adapter.md", index: 0, what: "an adapter" },
] as const;

describe("a host", () => {
  let folder = "";

  beforeAll(async () => {
    folder = await install("@acp-steering/core", "@acp-steering/kit", "@agentclientprotocol/sdk", ...TYPESCRIPT);
    await compile(folder, "docs/host.md", "host");
  });

  test.each(AGENTS)("steers $what ($page)", async ({ page, index }) => {
    const program = await compile(folder, page, `agent-${page.replaceAll(/\W/g, "-")}-${index}`, index);
    const { stdout } = await run("node", [join(folder, "host.js"), "node", program], { cwd: folder });
    expect(stdout).toMatch(/^injected$[\s\S]*^delivered$[\s\S]*^turnEnded$[\s\S]*undelivered: \[\]/m);
  });

  test("is told by the program of the kit's page that it can be steered", async () => {
    const program = await compile(folder, "packages/steering-kit/README.md", "kit");
    expect(await firstAnswer("node", [program], folder)).toMatchObject({ _meta: { steering: { supported: true } } });
  });
});
