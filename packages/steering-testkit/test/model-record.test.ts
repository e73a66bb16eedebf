import {
  type ModelRequest,
  type ModelServer,
  type ModelServerOptions,
  occurrencesOf,
  shellCall,
  startModelServer,
} from "@acp-steering/testkit/model-server";
import { describe, expect, onTestFinished, test } from "vitest";
import { RequestLog } from "../src/model-server/request-log.js";
import { WaitingRoom } from "../src/model-server/waiting-room.js";
import { askRaw, RAW_DIALECTS } from "./model-dialects.js";
import { DOT } from "./model-images.js";

const start = async (options: ModelServerOptions = {}): Promise<ModelServer> => {
  const model = await startModelServer(options);
  onTestFinished(() => model.close());
  return model;
};

const recorded = async (path: string, body: object): Promise<ModelRequest> => {
  const model = await start();
  const response = await fetch(`${model.url}${path}`, {
    method: "POST",
    body: JSON.stringify({ model: "m", ...body }),
  });
  expect(response.status).toBe(200);
  return model.requests[0] as ModelRequest;
};

const noText = { text: "", images: 0 };

test("Responses: every kind of item becomes the message that it is in the other dialects", async () => {
  const { messages } = await recorded("/responses", {
    instructions: "Be brief.",
    input: [
      { type: "message", role: "developer", content: [{ type: "input_text", text: "Be kind." }] },
      {
        type: "message",
        role: "user",
        content: [
          { type: "input_text", text: "Look" },
          { type: "input_image", image_url: DOT.url },
          { type: "input_image", file_id: "file_1" },
          { type: "input_text", text: "here" },
        ],
      },
      { type: "reasoning", summary: [{ type: "summary_text", text: "Hm." }], encrypted_content: "x" },
      { type: "message", role: "assistant", content: [{ type: "output_text", text: "Yes." }] },
      { type: "function_call", call_id: "c1", name: "shell", arguments: '{"cmd":"ls"}' },
      { type: "custom_tool_call", call_id: "c2", name: "apply_patch", input: "*** Begin" },
      { type: "local_shell_call", call_id: "c3", action: { type: "exec", command: ["ls"] } },
      { type: "function_call_output", call_id: "c1", output: "a.txt" },
      { type: "custom_tool_call_output", call_id: "c2", output: [{ type: "input_text", text: "done" }] },
      {
        type: "function_call_output",
        call_id: "c3",
        output: [
          { type: "input_text", text: "seen" },
          { type: "input_image", image_url: DOT.url },
        ],
      },
      { role: "user", content: "not that file" },
    ],
  });
  expect(messages).toEqual([
    { role: "system", text: "Be brief.", images: 0 },
    { role: "system", text: "Be kind.", images: 0 },
    {
      role: "user",
      text: "Look\nhere",
      images: 2,
      imageDetails: [DOT.image, { kind: "reference", reference: "file_1" }],
    },
    {
      role: "assistant",
      text: "Yes.",
      images: 0,
      toolCalls: [
        { id: "c1", name: "shell", arguments: '{"cmd":"ls"}' },
        { id: "c2", name: "apply_patch", arguments: "*** Begin" },
        { id: "c3", name: "local_shell_call", arguments: '{"type":"exec","command":["ls"]}' },
      ],
    },
    { role: "tool", text: "a.txt", images: 0, toolCallId: "c1" },
    { role: "tool", text: "done", images: 0, toolCallId: "c2" },
    { role: "tool", text: "seen", images: 1, imageDetails: [DOT.image], toolCallId: "c3" },
    { role: "user", text: "not that file", images: 0 },
  ]);
});

test("Responses: the calls of two answers stay apart when something stands between them", async () => {
  const call = (id: string): object => ({ type: "function_call", call_id: id, name: "ls", arguments: "{}" });
  const { messages } = await recorded("/responses", {
    input: [call("c1"), { type: "function_call_output", call_id: "c1", output: "" }, call("c2")],
  });
  expect(messages).toEqual([
    { role: "assistant", ...noText, toolCalls: [{ id: "c1", name: "ls", arguments: "{}" }] },
    { role: "tool", ...noText, toolCallId: "c1" },
    { role: "assistant", ...noText, toolCalls: [{ id: "c2", name: "ls", arguments: "{}" }] },
  ]);
});

test("Anthropic: words between two results keep their place, instructions may be one text", async () => {
  const result = (id: string): object => ({ type: "tool_result", tool_use_id: id });
  const { messages } = await recorded("/messages", {
    system: "Be brief.",
    messages: [{ role: "user", content: [result("c1"), { type: "text", text: "wait" }, result("c2")] }],
  });
  expect(messages).toEqual([
    { role: "system", text: "Be brief.", images: 0 },
    { role: "tool", ...noText, toolCallId: "c1" },
    { role: "user", text: "wait", images: 0 },
    { role: "tool", ...noText, toolCallId: "c2" },
  ]);
});

const parameters = { type: "object", properties: { command: { type: "string" } } };
const shell = { name: "Bash", description: "Runs a command." };

const OFFERS: readonly [string, string, object][] = [
  [
    "chat completions",
    "/chat/completions",
    { messages: [{ role: "user" }], tools: [{ type: "function", function: { ...shell, parameters } }] },
  ],
  ["Responses", "/responses", { input: "x", tools: [{ type: "function", ...shell, parameters }] }],
  [
    "Responses, in a namespace",
    "/responses",
    { input: "x", tools: [{ type: "namespace", name: "n", tools: [{ type: "function", ...shell, parameters }] }] },
  ],
  [
    "Messages",
    "/messages",
    { messages: [{ role: "user", content: "x" }], tools: [{ ...shell, input_schema: parameters }] },
  ],
];

test.each(OFFERS)(
  "the tools on offer are recorded, and the shell is found among them: %s",
  async (_name, path, body) => {
    const request = await recorded(path, body);
    expect(request.tools).toEqual([{ ...shell, parameters }]);
    expect(shellCall(request, "ls")).toEqual({ name: "Bash", arguments: { command: "ls" } });
  },
);

describe("the agent's shell", () => {
  const offering = (name: string, properties: object): Pick<ModelRequest, "tools"> => ({
    tools: [
      { name: "read", description: "", parameters: {} },
      { name, description: "", parameters: { properties } },
    ],
  });

  test("may take its command under another name, or as a list of words", () => {
    expect(shellCall(offering("exec_command", { cmd: { type: "string" } }), "ls -l")).toEqual({
      name: "exec_command",
      arguments: { cmd: "ls -l" },
    });
    expect(shellCall(offering("shell", { command: { type: "array" } }), "ls -l")).toEqual({
      name: "shell",
      arguments: { command: ["sh", "-c", "ls -l"] },
    });
  });

  test("may not be there", () => {
    expect(shellCall(offering("search", { command: { type: "string" } }), "ls")).toBeUndefined();
    expect(shellCall(offering("bash", { path: { type: "string" } }), "ls")).toBeUndefined();
  });
});

test("every place of a text in the user's messages is found, in order, and no other", () => {
  const message = (role: string, text: string) => ({ role, text, images: 0 });
  const messages = [
    message("system", "no"),
    message("user", "no, no"),
    message("assistant", "no?"),
    message("tool", "no"),
    message("user", "yes"),
    message("user", "oh no"),
  ];
  const request = { messages } as unknown as ModelRequest;
  expect(occurrencesOf(request, "no")).toEqual([
    { message: 1, offset: 0 },
    { message: 1, offset: 4 },
    { message: 5, offset: 3 },
  ]);
  expect(occurrencesOf(request, "never")).toEqual([]);
  expect(occurrencesOf(request, "")).toEqual([]);
});

test.each(RAW_DIALECTS)("$name: a text is found in the same way", async (dialect) => {
  const model = await start();
  await (await askRaw(model, dialect, { text: "this, not that" })).text();
  expect(occurrencesOf(model.requests[0] as ModelRequest, "not that")).toEqual([{ message: 0, offset: 6 }]);
  expect(model.seen("not that")).toHaveLength(1);
});

test("each request is handed over with its reply when its answer has ended, in whatever way", async () => {
  const ended: [number, unknown, boolean][] = [];
  const model = await start({
    script: (_request, index) => (index === 0 ? { hold: "gate" } : { text: `answer ${index}` }),
    record: ({ index, reply, aborted }) => ended.push([index, reply, aborted]),
  });
  const [dialect] = RAW_DIALECTS;
  if (dialect === undefined) throw new Error("There is no dialect");
  const client = new AbortController();
  const held = askRaw(model, dialect, { signal: client.signal }).catch(() => "gone");
  await model.held("gate");
  expect(model.requests[0]?.reply).toEqual({ hold: "gate" });
  await (await askRaw(model, dialect)).text();
  client.abort();
  await held;
  await model.settled(0);
  expect(ended).toEqual([
    [1, { text: "answer 1" }, false],
    [0, { hold: "gate" }, true],
  ]);
});

describe("the record", () => {
  const arrived = (text: string, size: number) => ({
    dialect: "openai-chat",
    path: "/",
    model: "m",
    stream: false,
    messages: [{ role: "user", text, images: 0 }],
    tools: [],
    body: { text },
    size,
  });
  const texts = ({ requests }: RequestLog): unknown[] =>
    requests.map(({ messages, forgotten }) => (forgotten === true ? "forgotten" : messages[0]?.text));

  test("keeps no more than its bytes: the oldest answered lose their content and keep their place", () => {
    const log = new RequestLog(new WaitingRoom(), 100);
    for (const text of ["a", "b", "c", "d"]) {
      const request = log.add(arrived(text, 40));
      log.decide(request, { text: "x" });
      log.settle(request, { aborted: false });
    }
    expect(texts(log)).toEqual(["forgotten", "forgotten", "c", "d"]);
    expect(log.requests[0]).toMatchObject({ index: 0, body: undefined, messages: [], tools: [] });
    expect(log.requests[0]?.reply).toBeUndefined();
    expect(log.requests[2]?.reply).toEqual({ text: "x" });
    expect(log.seen("a")).toEqual([]);
  });

  test("forgets none whose answer has not ended", () => {
    const log = new RequestLog(new WaitingRoom(), 100);
    const open = log.add(arrived("open", 60));
    const short = log.add(arrived("short", 30));
    log.settle(short, { aborted: false });
    log.add(arrived("new", 30));
    expect(texts(log)).toEqual(["open", "forgotten", "new"]);
    log.add(arrived("newer", 30));
    expect(texts(log)).toEqual(["open", "forgotten", "new", "newer"]);
    log.settle(open, { aborted: false });
    expect(texts(log)).toEqual(["forgotten", "forgotten", "new", "newer"]);
  });

  test("is empty after a reset, also of what ends after it", () => {
    const log = new RequestLog(new WaitingRoom(), 100);
    const old = log.add(arrived("old", 90));
    log.clear();
    log.settle(old, { aborted: true });
    log.settle(log.add(arrived("new", 60)), { aborted: false });
    expect(texts(log)).toEqual(["new"]);
    log.settle(log.add(arrived("newer", 60)), { aborted: false });
    expect(texts(log)).toEqual(["forgotten", "newer"]);
  });
});
