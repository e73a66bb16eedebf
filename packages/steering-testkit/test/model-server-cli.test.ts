import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, test } from "vitest";
import { body, post, say } from "./model-server-client.js";

const CLI = fileURLToPath(new URL("../dist/scripted-model-cli.js", import.meta.url));

const cleanUps: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  await Promise.all(cleanUps.splice(0).map((cleanUp) => cleanUp()));
});

interface Command {
  readonly child: ChildProcess;
  readonly ended: Promise<{ code: number | null; stdout: string; stderr: string }>;
  firstLine(): Promise<string>;
}

const run = (...args: string[]): Command => {
  const child = spawn(process.execPath, [CLI, ...args], { stdio: ["ignore", "pipe", "pipe"] });
  const output = { stdout: "", stderr: "" };
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    output.stdout += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    output.stderr += text;
  });
  const ended = once(child, "close").then(([code]) => ({ code: code as number | null, ...output }));
  cleanUps.push(() => {
    child.kill("SIGKILL");
    return ended;
  });
  const firstLine = async (): Promise<string> => {
    while (!output.stdout.includes("\n")) {
      await Promise.race([once(child.stdout, "data"), ended.then(({ stderr }) => Promise.reject(new Error(stderr)))]);
    }
    return output.stdout.split("\n")[0] ?? "";
  };
  return { child, ended, firstLine };
};

const scriptFile = async (content: string, name = "script.json"): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), "scripted-model-"));
  cleanUps.push(() => rm(folder, { recursive: true }));
  const file = join(folder, name);
  await writeFile(file, content);
  return file;
};

describe("scripted-model", () => {
  test("prints its base URL, plays the script, and logs requests without their text", async () => {
    const { child, ended, firstLine } = run("--script", await scriptFile('[{"text":"From a file."}]'));
    const url = await firstLine();
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/v1$/);
    expect(await (await post({ url }, body({ messages: [say("my secret")] }))).text()).toContain("From a file.");
    child.kill("SIGTERM");
    expect(await ended).toEqual({
      code: 0,
      stdout: `${url}\n`,
      stderr: 'request 0: openai-chat, model "m", streamed, 1 message\n',
    });
  });

  test("--json prints the URL as JSON; --log-content adds the text; SIGINT ends it with answers open", async () => {
    const script = await scriptFile('[{"hold":"gate"}]');
    const { child, ended, firstLine } = run("--json", "--log-content", "--hold-control", "--script", script);
    const { url } = JSON.parse(await firstLine());
    const open = post({ url }, body({ messages: [say("in view")] })).catch(() => "broken");
    await untilHeld(url);
    child.kill("SIGINT");
    const { code, stderr } = await ended;
    expect(code).toBe(0);
    expect(stderr).toContain('user: "in view"');
    expect(await open).toBe("broken");
  });

  test("a module may export the script as a function of the request", async () => {
    const source = "export const script = ({ messages }) => ({ text: 'You said ' + messages.at(-1).text });\n";
    const url = await run("--script", await scriptFile(source, "script.mjs")).firstLine();
    expect(await (await post({ url }, body({ messages: [say("hi")] }))).text()).toContain("You said hi");
  });

  test("a module may be written in TypeScript where Node reads it, and the error says where", async () => {
    const file = await scriptFile("export const script: object[] = [{ text: 'Typed.' }];\n", "script.ts");
    const command = run("--script", file);
    if ("typescript" in process.features && process.features.typescript !== false) {
      const url = await command.firstLine();
      expect(await (await post({ url })).text()).toContain("Typed.");
    } else {
      expect(await command.ended).toMatchObject({ code: 2, stderr: expect.stringContaining("--import tsx") });
    }
  });

  test("--log keeps every request with its reply, a line each", async () => {
    const script = await scriptFile('[{"text":"One."}]');
    const log = join(dirname(script), "log.jsonl");
    const { child, ended, firstLine } = run("--log", log, "--script", script);
    const url = await firstLine();
    await (await post({ url }, body({ messages: [say("first")] }))).text();
    await (await post({ url }, body({ messages: [say("second")] }))).text();
    child.kill("SIGTERM");
    await ended;
    const lines = (await readFile(log, "utf8")).trimEnd().split("\n");
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { index: 0, messages: [{ text: "first" }], reply: { text: "One." }, aborted: false },
      { index: 1, messages: [{ text: "second" }], reply: { text: "Done." }, aborted: false },
    ]);
  });

  test("without --hold-control there is nothing to control", async () => {
    const { firstLine } = run();
    const origin = new URL(await firstLine()).origin;
    expect((await fetch(`${origin}/_control/requests`)).status).toBe(404);
  });

  const mistakes: readonly [string, readonly string[], string][] = [
    ["an unknown option", ["--prot", "1"], "--prot"],
    ["a port that is none", ["--port", "70000"], '"70000"'],
    ["a script that is not there", ["--script", "nowhere.json"], "nowhere.json"],
    ["a module that is not there", ["--script", "nowhere.mjs"], "nowhere.mjs"],
    ["a log that cannot be written", ["--log", "no/such/folder/log"], "Cannot write the log"],
  ];

  test.each(mistakes)("%s: exit code 2 and a line that says what is wrong", async (_name, args, message) => {
    const { code, stdout, stderr } = await run(...args).ended;
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain(message);
    expect(stderr).not.toContain("    at ");
  });

  const scripts: readonly [string, string, string, string][] = [
    ["that is not JSON", "script.json", "[", "is not JSON"],
    ["with a wrong field", "script.json", '[{"text":"a"},{"tekst":"b"}]', "script.json: reply 1: Unrecognized key"],
    ["that holds, without --hold-control", "script.json", '[{"hold":"a"}]', "--hold-control"],
    ["that is a module without a script", "script.mjs", "export const other = 1;", "exports nothing by the name of"],
    ["that is a module with a wrong field", "script.mjs", "export const script = [{ a: 1 }];", "reply 0: Unrecognized"],
    ["that is a module with a fault", "script.mjs", "throw new Error('out of ideas');", "out of ideas"],
  ];

  test.each(scripts)("a script %s: exit code 2", async (_name, name, content, message) => {
    const { code, stderr } = await run("--script", await scriptFile(content, name)).ended;
    expect(code).toBe(2);
    expect(stderr).toContain(message);
  });

  test("a port that is taken: exit code 1", async () => {
    const port = new URL(await run().firstLine()).port;
    const second = run("--port", port);
    const { code, stderr } = await second.ended;
    expect(code).toBe(1);
    expect(stderr).toContain(`127.0.0.1:${port}`);
  });

  test("--help goes to stdout", async () => {
    const { code, stdout } = await run("--help").ended;
    expect(code).toBe(0);
    expect(stdout).toContain("--hold-control");
  });
});

const heldAt = async (url: string): Promise<readonly { name: string; request: number }[]> => {
  const response = await fetch(new URL("/_control/held", url));
  return ((await response.json()) as { held: { name: string; request: number }[] }).held;
};

const untilHeld = async (url: string): Promise<void> => {
  while ((await heldAt(url)).length === 0);
};

describe("the control endpoints", () => {
  const start = async (script: string): Promise<{ url: string; control: (path: string) => Promise<Response> }> => {
    const url = await run("--hold-control", "--script", await scriptFile(script)).firstLine();
    const control = (path: string): Promise<Response> => fetch(new URL(`/_control/${path}`, url), { method: "POST" });
    return { url, control };
  };

  test("show what is held and release it, whatever the name", async () => {
    const { url, control } = await start('[{"text":"At last.","hold":"a/b c"}]');
    const answer = post({ url });
    await untilHeld(url);
    expect(await heldAt(url)).toEqual([{ name: "a/b c", request: 0 }]);
    const released = await control("release/a/b%20c");
    expect(await released.json()).toEqual({ released: 1 });
    expect(await (await answer).text()).toContain("At last.");
    expect(await heldAt(url)).toEqual([]);
  });

  test("show the requests, and forget them after a reset", async () => {
    const { url, control } = await start("[]");
    const requests = async (): Promise<unknown> => (await fetch(new URL("/_control/requests", url))).json();
    await (await post({ url }, body({ messages: [say("kept")] }))).text();
    expect(await requests()).toMatchObject({
      requests: [{ index: 0, aborted: false, messages: [{ role: "user", text: "kept", images: 0 }] }],
    });
    expect((await control("reset")).status).toBe(200);
    expect(await requests()).toEqual({ requests: [] });
  });

  test("say what is wrong with a request to them", async () => {
    const { url, control } = await start("[]");
    const unknown = await control("release/nobody");
    expect(unknown.status).toBe(404);
    expect(await unknown.json()).toMatchObject({ error: { code: "unknownHold" } });
    expect((await control("release/%zz")).status).toBe(400);
    expect((await fetch(new URL("/_control/reset", url))).status).toBe(404);
  });
});
