import { type ChildProcessWithoutNullStreams, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Check, CheckId, SceneEvent } from "../src/scene/scene-event.js";
import { readTextLines } from "../src/text-lines.js";

const cli = fileURLToPath(new URL("../dist/scene-cli.js", import.meta.url));
const fixture = (name: string): string => fileURLToPath(new URL(`fixtures/${name}`, import.meta.url));
const agentCommand = (file: string, ...args: string[]): string =>
  [`'${process.execPath}'`, `'${file}'`, ...args].join(" ");
const referenceAgent = (road: string): string =>
  agentCommand(fileURLToPath(new URL("../dist/reference-agent-cli.js", import.meta.url)), "--road", road);
const unawareAgent = agentCommand(fixture("unaware-agent.mjs"));
const faultyAgent = (fault: string): string => agentCommand(fixture("faulty-agent.mjs"), "--fault", fault);

interface Played {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

// A folder of its own for temporary files shows what the scene leaves behind.
let temporary: string;
beforeAll(async () => {
  temporary = await mkdtemp(join(tmpdir(), "scene-test-"));
});
afterAll(() => rm(temporary, { recursive: true }));
const env = (): NodeJS.ProcessEnv => ({ ...process.env, TMPDIR: temporary, FORCE_COLOR: undefined });

function scene(...args: string[]): Promise<Played> {
  return new Promise((resolve) => {
    execFile(process.execPath, [cli, ...args], { env: env() }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : (error.code as unknown as number | null), stdout, stderr });
    });
  });
}

const eventsOf = ({ stdout }: Played): SceneEvent[] =>
  stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as SceneEvent);
const checksOf = (played: Played): Check[] => eventsOf(played).filter((event) => event.type === "check");
const idsThatAre = (verdict: Check["verdict"], played: Played): CheckId[] =>
  checksOf(played)
    .filter((check) => check.verdict === verdict)
    .map(({ id }) => id);

describe("an agent that keeps the contract", () => {
  test.each(["inbox", "driver"])("%s: passes, and the events tell the whole story in order", async (road) => {
    const played = await scene("--json", "--agent", referenceAgent(road));
    expect(played).toMatchObject({ code: 0, stderr: "" });
    const events = eventsOf(played);
    expect(idsThatAre("true", played)).toHaveLength(checksOf(played).length);
    expect(events.at(-1)).toMatchObject({
      type: "summary",
      passed: true,
      facts: {
        steer: { result: { outcome: "injected" } },
        steerSeen: { request: 4, userMessages: 1 },
        steerObeyed: true,
      },
    });
    const told = events.flatMap((event) => (event.type === "message" ? [`${event.from} ${event.name}`] : []));
    const story = [
      "client session/prompt",
      "model answer 3",
      "client _session/steering",
      "agent answer: _session/steering",
      "agent request 4",
      "agent answer: session/prompt",
      "client _session/steering",
      "agent answer: _session/steering",
      "client session/prompt",
      "agent request 7",
      "agent answer: session/prompt",
    ];
    expect(told.filter((line) => story.includes(line))).toEqual(story);
    const times = events.map(({ at }) => at);
    expect(times).toEqual([...times].sort((a, b) => a - b));
  });

  test("passes without a steering of its own: the steer is continued in the same turn", async () => {
    const played = await scene("--json", "--agent", unawareAgent);
    expect(played).toMatchObject({ code: 0, stderr: "" });
    expect(eventsOf(played).at(-1)).toMatchObject({ facts: { steerSeen: { request: 7 }, steerObeyed: true } });
  });

  test("passes without any tool: the files are not asked for", async () => {
    const played = await scene("--json", "--agent", faultyAgent("noTools"));
    expect(played.code).toBe(0);
    expect(checksOf(played).map(({ id }) => id)).not.toContain("steerObeyed");
  });

  test("a pipe gets plain text, also where colour is asked for elsewhere", async () => {
    const { stdout, code } = await scene("--agent", referenceAgent("inbox"));
    expect(code).toBe(0);
    expect(stdout).not.toContain("\u001b[");
    expect(stdout).toMatch(/◆──\[4\]──5──6──▶ end_turn[\s\S]*All \d+ are true\.\n$/);
  });
});

describe("an agent that breaks the contract", () => {
  const faults: [string, CheckId[]][] = [
    ["loses", ["seenOnce", "inOrder", "sameTurn", "steerObeyed"]],
    ["doubles", ["seenOnce"]],
    ["answersTwice", ["ownerAnsweredOnce", "ownTurnAnswered"]],
    ["consumesIdle", ["idleConsumesNothing", "ownTurnSeenOnce"]],
  ];
  test.each(faults)("%s: exit 1, and it says what was not true", async (fault, ids) => {
    const played = await scene("--json", "--agent", faultyAgent(fault));
    expect(played.code).toBe(1);
    expect(idsThatAre("false", played)).toEqual(ids);
    expect(played.stderr.match(/^Not true: /gm)).toHaveLength(ids.length);
  });

  test("one that asks another model: exit 1, and it says what could not be verified", async () => {
    const played = await scene("--json", "--agent", faultyAgent("ownModel"));
    expect(played.code).toBe(1);
    expect(idsThatAre("false", played)).toEqual([]);
    expect(idsThatAre("unverified", played)).toContain("seenOnce");
    expect(played.stderr).toContain("Could not be verified: The model sees the steer");
  });
});

describe("a scene that cannot be played ends with exit 2 and what to do", () => {
  test("an executable that is not there", async () => {
    const { code, stderr } = await scene("--agent", "no-such-agent");
    expect([code, stderr]).toEqual([2, expect.stringContaining("no-such-agent")]);
  });

  test("an agent that dies", async () => {
    const { code, stderr } = await scene("--agent", faultyAgent("dies"));
    expect([code, stderr]).toEqual([2, expect.stringMatching(/ended with exit code 3/)]);
  });

  test("an agent that wants a login", async () => {
    const { code, stderr } = await scene("--agent", faultyAgent("refuses"));
    expect([code, stderr]).toEqual([2, expect.stringMatching(/session\/new with error -32000.*Log in/)]);
  });

  test("an agent that hangs: the step is named", async () => {
    const { code, stderr } = await scene("--timeout", "1", "--agent", faultyAgent("hangs"));
    expect([code, stderr]).toEqual([2, expect.stringContaining("in the step “An agent that can be steered”")]);
  });

  test.each([["--no-such-option"], ["--timeout", "soon"], ["--agent", " "]])(
    "%s %s is refused, with the help",
    async (...args) => {
      const { code, stderr } = await scene(...args.filter((arg) => arg !== undefined));
      expect([code, stderr]).toEqual([2, expect.stringContaining("npm start -- --agent")]);
    },
  );
});

test("--help goes to stdout", async () => {
  expect(await scene("--help")).toMatchObject({ code: 0, stdout: expect.stringContaining("Exit code"), stderr: "" });
});

/** Starts a scene with an agent that hangs and ends it once a line with that text was shown. */
async function endedAt(text: string, end: (child: ChildProcessWithoutNullStreams) => void): Promise<unknown> {
  const child = spawn(process.execPath, [cli, "--json", "--agent", faultyAgent("hangs")], { env: env() });
  child.stderr.resume();
  await new Promise<void>((resolve) => {
    readTextLines(child.stdout, (line) => {
      if (line.includes(text)) resolve();
    });
  });
  end(child);
  const [code] = await once(child, "exit");
  return code;
}

// The first event comes while the agent still starts.
test.each(["cast", "initialize"])(
  "Ctrl-C at the event “%s” ends the scene, the agent and the temporary files",
  async (text) => {
    expect(await endedAt(`"${text}"`, (child) => child.kill("SIGINT"))).toBe(130);
  },
);

test("a Ctrl-C that comes twice, from the terminal and from npm, is one", async () => {
  const twice = (child: ChildProcessWithoutNullStreams): void => {
    child.kill("SIGINT");
    setImmediate(() => child.kill("SIGINT"));
  };
  expect(await endedAt('"initialize"', twice)).toBe(130);
});

test("a scene whose output nobody reads any more ends", async () => {
  expect(await endedAt('"cast"', (child) => child.stdout.destroy())).toBe(130);
});

test("nothing is left behind", async () => {
  expect(await readdir(temporary)).toEqual([]);
});
