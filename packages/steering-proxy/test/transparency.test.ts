import { expect, test } from "vitest";
import { LineClient, paramsOf, type SeenLine } from "./line-client.js";

const textOf = ({ line }: SeenLine): string => line.toString("utf8");
const deep = (levels: number): string => `${"[".repeat(levels)}${"]".repeat(levels)}`;

/** What JSON.stringify would not write again as it is. */
const PECULIAR = `{ "big": 9007199254740993, "exact": 1.0, "e": 1E3, "b": 2, "a": 1, "10": 0, "2": 0, "text": "\\u00e4\\/ä\u2028😀 \\"method\\":\\"session/prompt\\"", "method": null }`;

test.each([
  [
    "a request of an unknown method",
    `{"params":${PECULIAR},"method":"_echo/vendor","id":"x","jsonrpc":"2.0","more":1}`,
  ],
  ["a notification of an unknown method", `{"jsonrpc":"2.0","method":"_vendor/thing","params":${PECULIAR}}`],
  [
    "an answer to nothing that was asked",
    `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"x"},"more":1.0}`,
  ],
  ["a message with CRLF", `{"jsonrpc":"2.0","method":"_vendor/thing","params":{}}\r`],
  ["deep nesting", `{"jsonrpc":"2.0","method":"_vendor/thing","params":${deep(20_000)}}`],
  ["no JSON", "this is no JSON"],
  ["a batch", `[{"jsonrpc":"2.0","method":"_vendor/thing","params":{"n":1.0}}]`],
])("the agent is given %s byte for byte", async (_, line) => {
  const client = await LineClient.start();
  await client.open();
  client.write(line);
  await client.reached(line);
});

test("the agent is given a prompt byte for byte, with what its params and its _meta say", async () => {
  const client = await LineClient.start();
  const sessionId = await client.open();
  const line = `{"id":77,"jsonrpc":"2.0","method":"session/prompt","params":{"_meta":${PECULIAR},"prompt":[{"text":"{\\"deed\\":\\"end\\"}","type":"text"}],"sessionId":"${sessionId}"},"more":1.0}`;
  client.write(line);
  await client.reached(line);
  expect((await client.answer(77)).message.result).toMatchObject({ stopReason: "end_turn" });
});

test("what stands before initialize passes, and what stands behind it in one write waits and arrives in order", async () => {
  const client = await LineClient.start();
  client.write('{"jsonrpc":"2.0","method":"_vendor/early","params":{"n":1.0}}');
  const initialize = `{"jsonrpc":"2.0","id":"i","method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{}}}`;
  const later = [1, 2].map((n) => `{"jsonrpc":"2.0","id":"l${n}","method":"_echo","params":{"n":${n}.0}}`);
  client.write([initialize, ...later].join("\n"));
  for (const line of later) await client.reached(line);
  const answers = client.seen.map(({ message }) => message.id).filter((id) => id !== undefined);
  await client.answer("l2");
  expect(answers[0]).toBe("i");
  expect(paramsOf(client.seen[0]?.message as never)["base64"]).toBe(
    Buffer.from('{"jsonrpc":"2.0","method":"_vendor/early","params":{"n":1.0}}').toString("base64"),
  );
});

test.each([
  ["a notification of an unknown method", `{"jsonrpc":"2.0","method":"_vendor/thing","params":${PECULIAR}}`],
  ["a request of an unknown method", `{"id":5.0,"jsonrpc":"2.0","method":"_vendor/ask","params":${PECULIAR}}`],
  [
    "an update of a session that nobody opened",
    `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"?","update":${PECULIAR}}}`,
  ],
  ["an error of no id", `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"x","data":${PECULIAR}}}`],
  ["a message with CRLF", `{"jsonrpc":"2.0","method":"_vendor/thing","params":{}}\r`],
  ["deep nesting", `{"jsonrpc":"2.0","method":"_vendor/thing","params":${deep(20_000)}}`],
  ["a batch", `[{"jsonrpc":"2.0","method":"_vendor/thing","params":{"n":1.0}}]`],
  ["five megabytes", `{"jsonrpc":"2.0","method":"_vendor/thing","params":["${"ä".repeat(2_500_000)}"]}`],
])("the client is given %s byte for byte", async (_, line) => {
  const client = await LineClient.start();
  await client.open();
  client.tell(`${line}\n`);
  const bytes = Buffer.from(line);
  await client.see((seen) => seen.line.equals(bytes));
});

test("the client is given answers byte for byte, also that of a prompt", async () => {
  const client = await LineClient.start();
  const sessionId = await client.open();
  const vendor = client.ask("_hang/vendor");
  await client.answer(vendor);
  const id = client.prompt(sessionId, { deed: "hang" });
  const answer = `{"result":{"_meta":${PECULIAR},"stopReason":"end_turn"},"id":${id},"jsonrpc":"2.0"}`;
  client.tell(`${answer}\n`);
  expect(textOf(await client.answer(id))).toBe(answer);
});

test("updates of a running turn are given byte for byte, whatever their form, in their order", async () => {
  const client = await LineClient.start();
  const sessionId = await client.open();
  client.prompt(sessionId, { deed: "hang" });
  const kinds = ["agent_message_chunk", "agent_thought_chunk", "tool_call", "tool_call_update", "plan", "_vendor"];
  const lines = Array.from({ length: 200 }, (_, n) => {
    const kind = kinds[n % kinds.length];
    const forms = [
      `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"${sessionId}","update":{"sessionUpdate":"${kind}","n":${n}.0,"x":${PECULIAR}}}}`,
      `{"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "${sessionId}", "update": {"sessionUpdate": "${kind}", "n": ${n}.0}}}\r`,
      `{"params":{"update":{"n":${n}.0,"sessionUpdate":"${kind}"},"sessionId":"${sessionId}"},"method":"session/update","jsonrpc":"2.0"}`,
    ];
    return forms[n % 7 === 0 ? 2 : n % 5 === 0 ? 1 : 0] as string;
  });
  client.tell(`${lines.join("\n")}\n`);
  await client.see(({ line }) => line.equals(Buffer.from(lines.at(-1) as string)));
  const updates = client.seen.filter(({ line }) => line.includes('"n"') && line.includes("sessionUpdate"));
  expect(updates.map(textOf)).toEqual(lines);
});

test("what is no message on the agent's stdout goes to the log, without its text, and not to the client", async () => {
  const client = await LineClient.start();
  await client.open();
  client.tell("my secret plan\n\n42\nand more\n");
  client.tell('{"jsonrpc":"2.0","method":"_vendor/after"}\n');
  await client.see(({ message }) => message.method === "_vendor/after");
  expect(client.seen.filter(({ line }) => !line.toString().startsWith("{"))).toEqual([]);
  expect(client.log.filter((line) => line.includes("is no message"))).toHaveLength(2);
  expect(client.log.join()).not.toContain("secret");
});

test("with logContent the log has the text", async () => {
  const client = await LineClient.start({}, { logContent: true });
  await client.open();
  client.tell("my secret plan\n");
  await client.when(() => client.log.find((line) => line.includes("my secret plan")));
});

test("the tap is shown every line of the four flows, in order", async () => {
  const tapped: string[] = [];
  const client = await LineClient.start({}, { tap: (flow, line) => tapped.push(`${flow} ${Buffer.from(line)}`) });
  const sessionId = await client.open();
  const id = client.prompt(sessionId, { deed: "hang" });
  const updates = [1, 2, 3].map(
    (n) =>
      `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"${sessionId}","update":{"sessionUpdate":"plan","n":${n}.0}}}`,
  );
  client.tell(`${updates.join("\n")}\n`);
  await client.see(({ line }) => line.includes("3.0"));
  const steer = `{"jsonrpc":"2.0","id":"s","method":"_session/steering","params":{"sessionId":"${sessionId}","prompt":[{"type":"text","text":"{\\"deed\\":\\"end\\"}"}]}}`;
  client.write(steer);
  await client.answer("s");
  const end = `{"jsonrpc":"2.0","id":${id},"result":{"stopReason":"end_turn"}}`;
  client.tell(`${end}\n`);
  await client.answer(id);
  for (const update of updates) {
    expect(tapped).toContain(`fromAgent ${update}`);
    expect(tapped).toContain(`toClient ${update}`);
  }
  expect(tapped).toContain(`fromClient ${steer}`);
  expect(tapped).not.toContain(`toAgent ${steer}`);
  expect(tapped).toContain(`fromAgent ${end}`);
  expect(tapped).not.toContain(`toClient ${end}`);
  const shown = tapped.filter((line) => line.startsWith("toClient ")).map((line) => line.slice("toClient ".length));
  expect(shown).toEqual(client.seen.map(textOf));
});
