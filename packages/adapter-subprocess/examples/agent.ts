/** A coding agent: asks a model, asks its user before each command, and hears them between two steps. */
import { exec } from "node:child_process";
import { createInterface } from "node:readline";
import { promisify } from "node:util";

const headers = { "content-type": "application/json", authorization: `Bearer ${process.env["OPENAI_API_KEY"]}` };
const shell = { name: "shell", parameters: { type: "object", properties: { command: { type: "string" } } } };
const [tools, messages] = [[{ type: "function", function: shell }], [] as object[]];
let [stop, steers, answers] = [new AbortController(), [] as Record<string, string>[], [] as ((_: unknown) => void)[]];
const tell = (type: string, more = {}): void => console.log(JSON.stringify({ type, ...more }));
async function work(signal: AbortSignal): Promise<void> {
  const request = { method: "POST", headers, signal, body: JSON.stringify({ model: "gpt-5", messages, tools }) };
  const answer = JSON.parse(await (await fetch(`${process.env["OPENAI_BASE_URL"]}/chat/completions`, request)).text());
  const { message } = answer.choices?.[0] ?? (await Promise.reject(JSON.stringify(answer)));
  if (message.content) tell("text", { text: message.content });
  const news: object[] = [];
  for (const { id, function: shell } of message.tool_calls ?? []) {
    const { command } = JSON.parse(shell.arguments);
    tell("ask", { id, title: command, kind: "execute" });
    const option = await new Promise((resolve) => answers.push(resolve));
    const allowed = option === "allow" ? command : "echo The user says no.; false";
    const { stdout, code } = await promisify(exec)(allowed, { signal }).catch((error) => error);
    tell("tool", { id, status: code === undefined ? "completed" : "failed", text: stdout });
    news.push({ role: "tool", tool_call_id: id, content: stdout });
  }
  for (const { id, text } of steers.splice(0)) news.push({ role: "user", content: text }) && tell("delivered", { id });
  messages.push(message, ...news);
  return news.length > 0 ? work(signal) : tell("done");
}
tell("hello", { version: 1, name: "TypeScript agent", steer: "nextStep" });
for await (const line of createInterface(process.stdin)) {
  const { type, id, text, option } = JSON.parse(line);
  if (type === "steer") steers.push({ id, text });
  if (type === "answer") answers.shift()?.(option);
  if (type === "interrupt") stop.abort();
  if (type !== "prompt") continue;
  [stop, steers] = [new AbortController(), []];
  messages.push({ role: "user", content: text });
  work(stop.signal).catch((error) => tell(stop.signal.aborted ? "done" : "error", { message: `${error}` }));
}
