import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { steeringAgent } from "@acp-steering/kit";
import { WireClient } from "@acp-steering/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import { kimiVendor } from "../src/index.js";

const FAKE = fileURLToPath(new URL("fixtures/fake-kimi.mjs", import.meta.url));

interface Opened {
  /** What became of `session/new`. */
  readonly error: Error;
  readonly log: string[];
}

/** The adapter over a Kimi that does what the real one cannot be made to do. */
async function openWithFake(mode: string, startTimeoutMs = 20_000): Promise<Opened> {
  const home = mkdtempSync(join(tmpdir(), "acp-steering-fake-"));
  onTestFinished(() => rmSync(home, { recursive: true, force: true, maxRetries: 5 }));
  const kimi = join(home, "kimi");
  writeFileSync(kimi, `#!/bin/sh\nexec "${process.execPath}" "${FAKE}"\n`);
  chmodSync(kimi, 0o755);
  const log: string[] = [];
  const env = { ...process.env, FAKE_KIMI: mode };
  const agent = steeringAgent(kimiVendor({ kimi, home, env, startTimeoutMs, log: (line) => log.push(line) }));
  onTestFinished(() => agent.dispose());
  const client = WireClient.connect(agent);
  await client.initialize();
  const error = await client.newSession(home).then(
    () => new Error("it opened"),
    (reason: Error) => reason,
  );
  return { error, log };
}

describe("G8 containment: a Kimi that does not work", () => {
  test("one that fails is one error with its exit code and last words, without what looks like a secret", async () => {
    const { error } = await openWithFake("exits");
    expect(error).toMatchObject({ code: -32603, data: { reason: "agentStartFailed" } });
    expect(error.message).toMatch(/Cannot start Kimi's server: it ended with exit code 3.*config.toml.*kimi web/s);
    expect(error.message).not.toContain("verysecret");
  });

  test("one that never listens is given up after the start timeout", async () => {
    const { error } = await openWithFake("silent", 300);
    expect(error).toMatchObject({ data: { reason: "agentStartFailed" } });
    expect(error.message).toContain("it does not listen after 300 ms");
  });

  test("what it refuses is passed on without its stack", async () => {
    const { error } = await openWithFake("refuses");
    expect(error).toMatchObject({ code: -32603, message: "Kimi refuses: it broke", data: { kimiCode: 50001 } });
    expect(JSON.stringify(error)).not.toContain("secret");
  });

  test("one that answers rubbish is an error that says so", async () => {
    const { error } = await openWithFake("rubbish");
    expect(error.message).toMatch(/something that is no JSON object/);
  });

  test("one that takes nobody to its event stream is an error, without its token", async () => {
    const { error, log } = await openWithFake("deaf");
    expect(error.message).toMatch(/refuses its event stream/);
    expect(error.message + log.join()).not.toContain("fake-token");
  });

  test("a Kimi that is not there is an error that says what to install", async () => {
    const agent = steeringAgent(kimiVendor({ kimi: "no-such-kimi" }));
    const client = WireClient.connect(agent);
    await client.initialize();
    await expect(client.newSession(tmpdir())).rejects.toMatchObject({
      message: expect.stringMatching(/Cannot find Kimi Code.*npm install -g @moonshot-ai\/kimi-code/),
      data: { reason: "agentNotFound" },
    });
    await agent.dispose();
  });
});
