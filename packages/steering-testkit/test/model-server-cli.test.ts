import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
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

const scriptFile = async (content: string): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), "scripted-model-"));
  cleanUps.push(() => rm(folder, { recursive: true }));
  const file = join(folder, "script.json");
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
      stderr: 'request 0: chat-completions, model "m", streamed, 1 message\n',
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

  test("without --hold-control there is nothing to control", async () => {
    const { firstLine } = run();
    const origin = new URL(await firstLine()).origin;
    expect((await fetch(`${origin}/_control/requests`)).status).toBe(404);
  });

  const mistakes: readonly [string, readonly string[], string][] = [
    ["an unknown option", ["--prot", "1"], "--prot"],
    ["a port that is none", ["--port", "70000"], '"70000"'],
    ["a script that is not there", ["--script", "nowhere.json"], "nowhere.json"],
  ];

  test.each(mistakes)("%s: exit code 2 and a line that says what is wrong", async (_name, args, message) => {
    const { code, stdout, stderr } = await run(...args).ended;
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain(message);
    expect(stderr).not.toContain("    at ");
  });

  const scripts: readonly [string, string, string][] = [
    ["that is not JSON", "[", "is not JSON"],
    ["with a wrong field", '[{"text":"a"},{"tekst":"b"}]', "script.json: reply 1: Unrecognized key"],
    ["that holds, without --hold-control", '[{"hold":"a"}]', "--hold-control"],
  ];

  test.each(scripts)("a script %s: exit code 2", async (_name, content, message) => {
    const { code, stderr } = await run("--script", await scriptFile(content)).ended;
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
