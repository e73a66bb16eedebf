import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, expect, inject, test } from "vitest";
import { firstAnswer } from "./first-answer.js";
import { install, installed, npm } from "./folder.js";
import { commitAll, release, runTool } from "./workspace-copy.js";

/** Every published package, by name, as the registry has it. */
async function newest(): Promise<Record<string, string>> {
  const entries = NAMES.map(async (name) => {
    const answer = await fetch(new URL(encodeURIComponent(name), inject("registry")));
    const { "dist-tags": tags } = (await answer.json()) as { "dist-tags": { latest: string } };
    return [name, tags.latest] as const;
  });
  return Object.fromEntries(await Promise.all(entries));
}

const NAMES = [
  "@acp-steering/core",
  "@acp-steering/kit",
  "@acp-steering/testkit",
  "@acp-steering/proxy",
  "@acp-steering/hermes",
  "@acp-steering/kimi",
  "@acp-steering/subprocess",
  "acp-steer",
] as const;

/** What a maintainer does: a changeset, the versions, and the release. */
async function releaseWith(name: (typeof NAMES)[number], bump: "patch" | "minor", note: string): Promise<void> {
  const repository = inject("repository");
  await writeFile(join(repository, ".changeset", "a-note.md"), `---\n"${name}": ${bump}\n---\n\n${note}\n`);
  await runTool(repository, "@changesets/cli", "changeset", ["version"]);
  await commitAll(repository, "Version packages");
  await release(repository, inject("registry"), inject("npmrc"));
}

const FIRST = Object.fromEntries(NAMES.map((name) => [name, "1.0.0"]));

let early = "";

beforeAll(async () => {
  early = await install("@acp-steering/kimi", "@acp-steering/subprocess");
});

test("every first version is 1.0.0", async () => {
  expect(await newest()).toEqual(FIRST);
});

test("a changeset for one adapter releases that adapter alone, with its note in its changelog", async () => {
  await releaseWith("@acp-steering/kimi", "patch", "Sessions with a long title are listed.");
  expect(await newest()).toEqual({ ...FIRST, "@acp-steering/kimi": "1.0.1" });
  await npm(early, "update");
  const changelog = join(early, "node_modules", "@acp-steering", "kimi", "CHANGELOG.md");
  expect(await readFile(changelog, "utf8")).toContain("Sessions with a long title are listed.");
});

test("a minor of core reaches adapters that are installed already, without a release of theirs", async () => {
  await releaseWith("@acp-steering/core", "minor", "A steer may say how urgent it is.");
  expect(await newest()).toEqual({ ...FIRST, "@acp-steering/kimi": "1.0.1", "@acp-steering/core": "1.1.0" });
  await npm(early, "update");
  expect(await installed(early)).toMatchObject({
    "@acp-steering/core": "1.1.0",
    "@acp-steering/kit": "1.0.0",
    "@acp-steering/subprocess": "1.0.0",
  });
  const answer = await firstAnswer("npx", ["--no-install", "kimi-steering-acp"], early);
  expect(answer).toMatchObject({ agentInfo: { version: "1.0.1" }, _meta: { steering: { supported: true } } });
});

test("what the registry has is not published again", async () => {
  const before = await newest();
  await release(inject("repository"), inject("registry"), inject("npmrc"));
  expect(await newest()).toEqual(before);
});
