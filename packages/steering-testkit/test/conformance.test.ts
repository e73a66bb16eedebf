import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterEach, describe, expect, test } from "vitest";
import { type ConformanceOptions, conformance, type Outcome } from "../src/conformance/conformance.js";
import { modelServerRig } from "../src/conformance/model-server-rig.js";
import type { MakeRig } from "../src/conformance/rig.js";
import { referenceAgent } from "../src/reference/reference-agent.js";
import { REQUIREMENTS } from "../src/requirements/requirements.js";

/** What a runner was given: the tests by name, the requirement's id first. */
type Tests = Map<string, () => Promise<void>>;

const rig = modelServerRig({ start: ({ modelUrl }) => referenceAgent({ road: "inbox", modelUrl }) });
const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

/** Registers the suite with a runner that runs nothing by itself. */
function register(
  options: ConformanceOptions = {},
  makeRig: MakeRig = rig,
): { tests: Tests; outcomes: readonly Outcome[] } {
  const tests: Tests = new Map();
  let group = "";
  const runner = {
    describe: (name: string, body: () => void): void => {
      group = name.split(":")[0] ?? "";
      body();
      group = "";
    },
    it: (name: string, body: () => Promise<void>): void => void tests.set(`${group}: ${name}`, body),
    expect,
  };
  const outcomes = conformance(runner, makeRig, options);
  ends.push(() => run(tests, ": the agent ends with its connection"));
  return { tests, outcomes };
}

async function run(tests: Tests, name: string): Promise<void> {
  const body = tests.get(name);
  if (body === undefined) throw new Error(`there is no test "${name}"`);
  await body();
}

/** Never says that it can be steered. */
const silentRig: MakeRig = async () => {
  const made = await rig();
  return { ...made, agent: withoutAdvertisement(made.agent) };
};

function withoutAdvertisement(agent: Awaited<ReturnType<MakeRig>>["agent"]): typeof agent {
  return {
    connect: ({ readable, writable }) => {
      const filter = new TransformStream({
        transform: (message, controller) => {
          const { _meta, ...result } = message.result ?? {};
          controller.enqueue(message.result?.protocolVersion === undefined ? message : { ...message, result });
        },
      });
      void filter.readable.pipeTo(writable).catch(() => {});
      const connection = agent.connect({ readable, writable: filter.writable }) as { closed: Promise<void> };
      const closed = connection.closed.then(() => filter.writable.close()).catch(() => {});
      return { closed };
    },
  };
}

describe("conformance", () => {
  test("has a test for each case of each requirement", () => {
    const { tests } = register();
    const ids = new Set([...tests.keys()].map((name) => name.split(":")[0]));
    expect([...ids].filter((id) => id !== "")).toEqual(REQUIREMENTS.map(({ id }) => id));
  });

  test("passes where a requirement holds, and tells what was found", async () => {
    const { tests, outcomes } = register();
    await run(tests, "advertised: initialize");
    expect(outcomes).toEqual([{ requirement: "advertised", title: "initialize", finding: { problems: [] } }]);
  });

  test("fails where one does not, with what is wrong", async () => {
    const { tests } = register({}, silentRig);
    await expect(run(tests, "advertised: initialize")).rejects.toMatchObject({
      actual: expect.arrayContaining([expect.stringContaining("_meta.steering is {}")]),
    });
  });

  test("a known failure passes while it fails", async () => {
    const { tests } = register({ knownFailures: { advertised: "not yet" } }, silentRig);
    await run(tests, "advertised: known failure: not yet");
  });

  test("a known failure fails as soon as it holds", async () => {
    const { tests } = register({ knownFailures: { advertised: "not yet" } });
    await expect(run(tests, "advertised: known failure: not yet")).rejects.toThrow(/take it out of knownFailures/);
  });

  test("what is opted out of has no test", () => {
    const { tests } = register({ optOut: { "content.large": "the agent takes 10,000 characters" } });
    expect([...tests.keys()].filter((name) => name.startsWith("content.large"))).toEqual([]);
  });

  test.each(["optOut", "knownFailures"] as const)("%s: an id that there is not throws at once", (option) => {
    expect(() => register({ [option]: { "G9.perfect": "who knows" } })).toThrow(
      /conformance: .* names "G9.perfect", which is no requirement. See REQUIREMENTS/,
    );
  });

  test.each(["optOut", "knownFailures"] as const)("%s: no reason throws at once", (option) => {
    expect(() => register({ [option]: { advertised: " " } })).toThrow(/gives no reason for "advertised"/);
  });

  test("an agent that cannot be started fails each test with why", async () => {
    const { tests } = register({}, () => Promise.reject(new Error("no such vendor")));
    ends.pop();
    await expect(run(tests, "advertised: initialize")).rejects.toThrow("no such vendor");
  });

  test("runs under node:test as well", async () => {
    const fixture = fileURLToPath(new URL("fixtures/node-conformance.mjs", import.meta.url));
    const { stdout } = await promisify(execFile)(process.execPath, ["--test", "--test-reporter=tap", fixture], {
      env: { ...process.env, NODE_TEST_CONTEXT: undefined, NODE_OPTIONS: "" },
    });
    expect(stdout).toMatch(/# fail 0/);
    expect(Number(/# pass (\d+)/.exec(stdout)?.[1])).toBeGreaterThan(80);
  });
});
