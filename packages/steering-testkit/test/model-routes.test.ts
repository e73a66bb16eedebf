import { get } from "node:http";
import { type ModelServer, type ModelServerOptions, startModelServer } from "@acp-steering/testkit/model-server";
import { describe, expect, onTestFinished, test } from "vitest";
import { askRaw, RAW_DIALECTS } from "./model-dialects.js";

const start = async (options: ModelServerOptions = {}): Promise<ModelServer> => {
  const model = await startModelServer(options);
  onTestFinished(() => model.close());
  return model;
};

describe.each(RAW_DIALECTS)("$name", (dialect) => {
  test.each(["/v1", "", "/v1/", "/some/proxy/v1", "/api"])("is served below %j", async (base) => {
    const model = await start();
    const url = new URL(model.url).origin + base.replace(/\/$/, "");
    const response = await askRaw({ url }, { ...dialect, path: `${dialect.path}?beta=true` });
    expect(await response.text()).toContain("Done.");
    expect(model.requests[0]).toMatchObject({
      dialect: dialect.name,
      path: `${base.replace(/\/$/, "")}${dialect.path}`,
    });
  });

  const bad: readonly [string, string][] = [
    ["malformed JSON", "{"],
    ["no object", "[]"],
    ["null", "null"],
    ["nothing", ""],
    ["an object without anything", "{}"],
    ["numbers for everything", '{"model":1,"messages":2,"input":3,"stream":4}'],
    ["a stream flag that is no flag", '{"model":"m","stream":1,"messages":[{"role":"user"}],"input":"x"}'],
    ["deep nesting", `{"model":"m","messages":${"[".repeat(5_000)}${"]".repeat(5_000)}}`],
  ];

  test.each(bad)("%s: 400 in its own shape, and no request is recorded", async (_name, body) => {
    const model = await start();
    const response = await fetch(`${model.url}${dialect.path}`, { method: "POST", body });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject(dialect.error);
    expect(model.requests).toEqual([]);
  });

  test("odd things inside are ignored", async () => {
    const model = await start();
    const odd = [null, 5, "text", [], { role: "user", content: [null, 5, { type: "video" }, { type: "text" }] }];
    const sound = dialect.body("hello", false);
    const field = "input" in sound ? "input" : "messages";
    const body = JSON.stringify({ ...sound, [field]: odd.slice(-1), tools: odd, unknown: { a: 1 } });
    const response = await fetch(`${model.url}${dialect.path}`, { method: "POST", body });
    expect(response.status).toBe(200);
    expect(model.requests[0]?.messages).toEqual([{ role: "user", text: "", images: 0 }]);
    expect(model.requests[0]?.tools).toEqual([]);
  });

  test("a wrong method: 405; a WebSocket: 426, by which clients know that there is none", async () => {
    const lines: string[] = [];
    const model = await start({ log: (line) => lines.push(line) });
    const wrong = await fetch(`${model.url}${dialect.path}`);
    expect(wrong.status).toBe(405);
    expect(await wrong.json()).toMatchObject(dialect.error);
    expect(await upgradeStatus(`${model.url}${dialect.path}`)).toBe(426);
    expect(lines).toEqual([expect.stringContaining("refused with 405"), expect.stringContaining("refused with 426")]);
  });

  test("an error says when to come back", async () => {
    const model = await start({
      script: [{ error: { status: 429, retryAfterSeconds: 2.5 } }, { error: { status: 429 } }],
    });
    expect((await askRaw(model, dialect)).headers.get("retry-after")).toBe("2.5");
    expect((await askRaw(model, dialect)).headers.get("retry-after")).toBeNull();
  });
});

const upgradeStatus = (url: string): Promise<number | undefined> =>
  new Promise((resolve, reject) => {
    const headers = { connection: "Upgrade", upgrade: "websocket", "sec-websocket-version": "13" };
    get(url, { headers }, (response) => {
      response.resume();
      resolve(response.statusCode);
    }).on("error", reject);
  });

test("who knocks before it asks is let in", async () => {
  const model = await start();
  const { origin } = new URL(model.url);
  for (const [method, path] of [
    ["HEAD", "/"],
    ["GET", "/"],
    ["GET", "/v1"],
    ["HEAD", "/v1/models"],
  ]) {
    expect([method, path, (await fetch(`${origin}${path}`, { method: method ?? "" })).status]).toEqual([
      method,
      path,
      200,
    ]);
  }
  expect(await (await fetch(origin)).json()).toEqual({ dialects: ["openai-chat", "openai-responses", "anthropic"] });
});

test("what is nowhere is 404 in the shape of who asks, and its method and path are in the log", async () => {
  const lines: string[] = [];
  const model = await start({ log: (line) => lines.push(line) });
  const { origin } = new URL(model.url);
  const plain = await fetch(`${origin}/api/hello?secret=1`);
  expect([plain.status, await plain.json()]).toMatchObject([404, { error: { type: "invalid_request_error" } }]);
  const headers = { "anthropic-version": "2023-06-01" };
  const named = await fetch(`${origin}/v1/files`, { method: "POST", headers });
  expect([named.status, await named.json()]).toMatchObject([
    404,
    { type: "error", error: { type: "not_found_error" } },
  ]);
  expect(lines).toEqual([
    'refused with 404: GET "/api/hello" (There is nothing at GET /api/hello.)',
    'refused with 404: POST "/v1/files" (There is nothing at POST /v1/files.)',
  ]);
});

test("a model with a name that cannot be decoded is there too", async () => {
  const model = await start();
  expect(await (await fetch(`${model.url}/models/%zz`)).json()).toMatchObject({ id: "%zz" });
});
