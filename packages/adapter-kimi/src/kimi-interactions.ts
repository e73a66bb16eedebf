import type { Turn } from "@acp-steering/kit";
import type { Log } from "@acp-steering/kit/adapter";
import { textOf } from "@acp-steering/kit/adapter";
import type { KimiApi } from "./kimi-api.js";
import { askApproval, readApproval } from "./kimi-approvals.js";
import { isSubAgent, type KimiEvent } from "./kimi-conversation.js";
import { isRefusal, REFUSAL } from "./kimi-error.js";
import { askQuestions, readQuestions } from "./kimi-questions.js";
import type { KimiUpdates } from "./kimi-updates.js";

export interface KimiInteractionsOptions {
  readonly turn: Turn;
  readonly api: KimiApi;
  /** The session's, in Kimi's REST interface. */
  readonly path: string;
  readonly log: Log;
  /** Awaited before Kimi gets an answer: steers that were held while the user was asked come first. */
  readonly beforeAnswer: () => Promise<void>;
}

/** What Kimi asks the user during one turn: approvals and questions, also those of its sub-agents. */
export class KimiInteractions {
  readonly #turn: Turn;
  readonly #api: KimiApi;
  readonly #path: string;
  readonly #log: Log;
  readonly #beforeAnswer: () => Promise<void>;
  /** Ends the wait for an answer that Kimi does not wait for any more. */
  readonly #open = new Map<string, AbortController>();

  constructor({ turn, api, path, log, beforeAnswer }: KimiInteractionsOptions) {
    this.#turn = turn;
    this.#api = api;
    this.#path = path;
    this.#log = log;
    this.#beforeAnswer = beforeAnswer;
  }

  event(event: KimiEvent, updates: KimiUpdates): void {
    switch (event.type) {
      case "event.approval.requested":
        this.#ask(textOf(event["approval_id"]), (signal) => this.#approve(event, updates, signal));
        break;
      case "event.question.requested":
        this.#ask(textOf(event["question_id"]), (signal) => this.#question(event, signal));
        break;
      case "event.approval.resolved":
        this.#open.get(textOf(event["approval_id"]))?.abort();
        break;
      case "event.question.answered":
      case "event.question.dismissed":
        this.#open.get(textOf(event["question_id"]))?.abort();
        break;
    }
  }

  #ask(id: string, ask: (signal: AbortSignal) => Promise<void>): void {
    const controller = new AbortController();
    this.#open.set(id, controller);
    ask(controller.signal)
      .catch((error: Error) => {
        // Answered elsewhere, or gone with its turn.
        if (!controller.signal.aborted && !this.#turn.signal.aborted)
          this.#log(`a question was not answered: ${error.message}`);
      })
      .finally(() => this.#open.delete(id));
  }

  async #approve(event: KimiEvent, updates: KimiUpdates, signal: AbortSignal): Promise<void> {
    const approval = readApproval(event);
    const { id, toolCallId, toolName, action, display } = approval;
    // The calls of a sub-agent have no cards: what it does is one call of the main agent.
    const ofSubAgent = isSubAgent({ agentId: event["agent_id"] });
    const tool = ofSubAgent ? updates.hiddenTool(toolCallId, toolName) : updates.tool(toolCallId, toolName);
    const card = tool.card({ name: toolName, description: action, display });
    const answer = await askApproval(this.#turn, approval, { ...card, status: "pending" }, signal).catch(() => {
      return { decision: "rejected" } as const;
    });
    await this.#beforeAnswer();
    if (!signal.aborted) await this.#api.post(`${this.#path}/approvals/${encodeURIComponent(id)}`, answer);
  }

  async #question(event: KimiEvent, signal: AbortSignal): Promise<void> {
    const asked = readQuestions(event);
    const answers = await askQuestions(this.#turn, asked, signal).catch(() => undefined);
    await this.#beforeAnswer();
    if (signal.aborted) return;
    const path = `${this.#path}/questions/${encodeURIComponent(asked.id)}`;
    if (answers) await this.#api.post(path, { answers });
    else await this.#dismiss(path);
  }

  async #dismiss(path: string): Promise<void> {
    try {
      await this.#api.post(`${path}:dismiss`);
    } catch (error) {
      // Kimi's way to say that it is done.
      if (!isRefusal(error, REFUSAL.dismissed)) throw error;
    }
  }
}
