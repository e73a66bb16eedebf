import type { ContentBlock } from "@acp-steering/core";
import type {
  AgentContext,
  RequestPermissionRequest,
  SessionUpdate,
  StopReason,
} from "@agentclientprotocol/sdk/unstable";
import { methods } from "@agentclientprotocol/sdk/unstable";
import { type ChatToolCall, userMessage } from "./chat-message.js";
import type { AskModel } from "./chat-model.js";
import type { Conversation } from "./conversation.js";
import { runShell, type ShellResult } from "./shell-tool.js";

const STOP_REASONS: Readonly<Record<string, StopReason>> = {
  length: "max_tokens",
  content_filter: "refusal",
};

const ALLOW = "allow";
const OPTIONS = [
  { optionId: ALLOW, name: "Allow", kind: "allow_once" },
  { optionId: "reject", name: "Reject", kind: "reject_once" },
] as const;

/** What one run works with. */
export interface RunContext {
  readonly conversation: Conversation;
  readonly askModel: AskModel;
  readonly client: AgentContext;
  readonly abort: AbortController;
}

/** One `session/prompt` at work: the steps of which the loop of an agent consists. */
export class Run {
  readonly #context: RunContext;

  constructor(context: RunContext) {
    this.#context = context;
  }

  get sessionId(): string {
    return this.#context.conversation.id;
  }

  /** Puts a message of the user at the end of the conversation: the next step shows it to the model. */
  hear(blocks: readonly ContentBlock[]): void {
    this.#context.conversation.messages.push(userMessage(blocks));
  }

  /**
   * Asks the model once and does what it wants done.
   *
   * @returns why the run is over, or `undefined` where the model is to see what its tools gave
   */
  async step(): Promise<StopReason | undefined> {
    const { conversation, askModel, abort } = this.#context;
    const onText = (text: string): Promise<void> => this.#say(text);
    const answer = await askModel({
      sessionId: conversation.id,
      messages: conversation.messages,
      signal: abort.signal,
      onText,
    });
    const { message, finishReason } = answer;
    conversation.messages.push(message);
    for (const call of message.tool_calls ?? []) {
      // A model takes no conversation in which a call has no result, so one that is not run has one too.
      const { output } = abort.signal.aborted ? CANCELLED : await this.#perform(call).catch(asResult);
      conversation.messages.push({ role: "tool", tool_call_id: call.id, content: output });
    }
    if (abort.signal.aborted) return "cancelled";
    return message.tool_calls ? undefined : (STOP_REASONS[finishReason] ?? "end_turn");
  }

  async #perform(call: ChatToolCall): Promise<ShellResult> {
    const { conversation, abort } = this.#context;
    const command = commandOf(call);
    if (command === undefined) return { ok: false, output: `There is no such tool. Call shell with {"command": "…"}.` };
    const toolCallId = call.id;
    await this.#update({ sessionUpdate: "tool_call", toolCallId, title: command, kind: "execute", status: "pending" });
    const refusal = await this.#askUser(toolCallId, command);
    if (!refusal) await this.#update({ sessionUpdate: "tool_call_update", toolCallId, status: "in_progress" });
    const result = refusal ?? (await runShell(command, conversation.cwd, abort.signal));
    const content = [{ type: "content" as const, content: { type: "text" as const, text: result.output } }];
    const status = result.ok ? "completed" : "failed";
    await this.#update({ sessionUpdate: "tool_call_update", toolCallId, status, content });
    return result;
  }

  /** Why the command may not run; `undefined`: it may. */
  async #askUser(toolCallId: string, title: string): Promise<ShellResult | undefined> {
    const { client, abort } = this.#context;
    const question: RequestPermissionRequest = {
      sessionId: this.sessionId,
      toolCall: { toolCallId, title, kind: "execute" },
      options: [...OPTIONS],
    };
    const { outcome } = await client.request(methods.client.session.requestPermission, question, {
      cancellationSignal: abort.signal,
    });
    if (outcome.outcome === "selected") return outcome.optionId === ALLOW ? undefined : REJECTED;
    abort.abort();
    return CANCELLED;
  }

  async #say(text: string): Promise<void> {
    if (text !== "") await this.#update({ sessionUpdate: "agent_message_chunk", content: { type: "text", text } });
  }

  async #update(update: SessionUpdate): Promise<void> {
    const { client } = this.#context;
    await client.notify(methods.client.session.update, { sessionId: this.sessionId, update });
  }
}

const REJECTED: ShellResult = { ok: false, output: "The user did not allow this command." };
const CANCELLED: ShellResult = { ok: false, output: "The user cancelled the turn." };

/** A command that cannot be run at all, e.g. for want of the folder, is the model's to think about. */
const asResult = (error: unknown): ShellResult => ({ ok: false, output: String(error) });

function commandOf({ function: { name, arguments: text } }: ChatToolCall): string | undefined {
  try {
    const { command } = JSON.parse(text) as { command?: unknown };
    return name === "shell" && typeof command === "string" ? command : undefined;
  } catch {
    return undefined;
  }
}
