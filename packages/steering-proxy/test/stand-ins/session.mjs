// @ts-nocheck: it plays a peer on the wire, whose messages have no types.
// One session of a stand-in: the loop of a coding agent, with a queue of steers that it empties before it asks its model.
import { spawn } from "node:child_process";
import { askModel, userMessage } from "./model.mjs";
import { ask, notify, refusal } from "./wire.mjs";

const OPTIONS = [
  { optionId: "allow", name: "Allow", kind: "allow_once" },
  { optionId: "reject", name: "Reject", kind: "reject_once" },
];

export class Session {
  id = crypto.randomUUID();
  messages = [];
  /** Steers that the model was not shown: `{ id, prompt }`. */
  queue = [];
  /** The prompt that is worked at. */
  run = undefined;
  #cwd;
  #dialect;

  constructor(cwd, dialect) {
    this.#cwd = cwd;
    this.#dialect = dialect;
  }

  update(update) {
    notify("session/update", { sessionId: this.id, update });
  }

  say(text) {
    this.update({ sessionUpdate: "agent_message_chunk", content: { type: "text", text } });
  }

  /** Works at a prompt to its end. */
  async prompt(prompt) {
    if (this.run) throw refusal(-32600, "a prompt is already running in this session");
    const abort = new AbortController();
    this.run = { id: `run_${crypto.randomUUID()}`, abort, ranTools: false };
    this.#dialect.begins?.(this);
    this.messages.push(userMessage(prompt));
    try {
      while (await this.#step(abort.signal));
    } catch (error) {
      if (!abort.signal.aborted) throw error;
    } finally {
      this.#end(abort.signal.aborted);
    }
    return { stopReason: abort.signal.aborted ? "cancelled" : "end_turn" };
  }

  cancel() {
    this.run?.abort.abort();
  }

  #end(cancelled) {
    this.run = undefined;
    this.#dialect.ends?.(this, cancelled);
    this.queue = [];
  }

  /** Asks the model once, and does what it wants; whether it is to be asked again. */
  async #step(signal) {
    this.#takeSteers();
    const answer = await askModel(this.messages, signal, (text) => this.say(text));
    this.messages.push(answer);
    for (const call of answer.tool_calls ?? []) {
      const content = signal.aborted ? "cancelled" : await this.#perform(call, signal);
      this.messages.push({ role: "tool", tool_call_id: call.id, content });
      this.run.ranTools = true;
    }
    if (signal.aborted) return false;
    return answer.tool_calls !== undefined || this.#takeable().length > 0;
  }

  #takeable() {
    return this.#dialect.waitsForTools && !this.run.ranTools ? [] : this.queue;
  }

  #takeSteers() {
    for (const steer of this.#takeable()) {
      this.messages.push(userMessage(steer.prompt));
      this.queue = this.queue.filter((other) => other !== steer);
      this.#dialect.taken?.(this, steer);
    }
  }

  async #perform({ id: toolCallId, function: { arguments: text } }, signal) {
    const { command } = JSON.parse(text);
    this.update({ sessionUpdate: "tool_call", toolCallId, title: command, kind: "execute", status: "pending" });
    const question = { sessionId: this.id, toolCall: { toolCallId, title: command }, options: OPTIONS };
    const { outcome } = await ask("session/request_permission", question);
    if (outcome.outcome === "cancelled") this.cancel();
    const allowed = outcome.optionId === "allow";
    const output = allowed ? await runShell(command, this.#cwd, signal) : "The user did not allow this.";
    this.update({ sessionUpdate: "tool_call_update", toolCallId, status: allowed ? "completed" : "failed" });
    return output;
  }
}

function runShell(command, cwd, signal) {
  const child = spawn("sh", ["-c", command], { cwd, signal, stdio: ["ignore", "pipe", "inherit"] });
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (text) => {
    output += text;
  });
  return new Promise((resolve) => {
    child.on("error", () => resolve("cancelled"));
    child.on("close", () => resolve(output));
  });
}
