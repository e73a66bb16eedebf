import { symlink } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { firstAnswer } from "./first-answer.js";
import { emptyFolder, install, installed, sizeOf } from "./folder.js";

const MAXIMUM_PACKAGES = 8;
const MAXIMUM_BYTES = 5_000_000;

const ADAPTERS = [
  { name: "@acp-steering/hermes", bin: "hermes-steering-acp", args: [], agent: "hermes" },
  { name: "@acp-steering/kimi", bin: "kimi-steering-acp", args: [], agent: "kimi-code" },
  {
    name: "@acp-steering/subprocess",
    bin: "subprocess-steering-acp",
    args: ["--dialect", "pi-rpc", "--", "pi"],
    agent: "pi-rpc-subprocess",
  },
] as const;

const STEERING = { supported: true, version: 1, idlePromptRequired: true, receipts: true, revoke: true };

test.each(ADAPTERS)("$name: installed with npm, run with npx, it says that it can be steered", async (adapter) => {
  const folder = await install(adapter.name);
  const answer = await firstAnswer("npx", ["--no-install", adapter.bin, ...adapter.args], folder);
  expect(answer).toMatchObject({ agentInfo: { name: adapter.agent }, _meta: { steering: STEERING } });
  expect(Object.keys(await installed(folder)).length).toBeLessThanOrEqual(MAXIMUM_PACKAGES);
  expect(await sizeOf(join(folder, "node_modules"))).toBeLessThanOrEqual(MAXIMUM_BYTES);
  const elsewhere = join(await emptyFolder(), "an agent");
  await symlink(join(folder, "node_modules", ".bin", adapter.bin), elsewhere);
  expect(await firstAnswer(elsewhere, adapter.args, folder)).toMatchObject({ agentInfo: { name: adapter.agent } });
});
