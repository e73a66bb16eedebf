import type { PermissionQuestion, Turn } from "@acp-steering/kit";
import { isRecord, type JsonRecord, listOf, recordOf, textOf } from "@acp-steering/kit/adapter";
import { answersOf, type ElicitationForm, formOf, questionsIn } from "./claude-forms.js";
import { textContent, toolView } from "./claude-tools.js";

type Option = PermissionQuestion["options"][number];

/** An answer that Claude Code takes, and how the user sees it. */
interface Decision {
  readonly option: Option;
  readonly answer: JsonRecord;
}

/** What a question itself leaves out. */
export interface QuestionSources {
  /** What the model gave for a call. */
  inputOf(toolCallId: string): JsonRecord;
  /** The plan that the user is asked to agree to. Never rejects. */
  plan(): Promise<string>;
}

/**
 * What Claude Code asks for its turn, put to the user.
 *
 * A rejection does not interrupt: the model is told and the turn goes on.
 */
export class ClaudeQuestions {
  readonly #turn: Turn;
  readonly #sources: QuestionSources;
  readonly #open = new Map<string, AbortController>();

  constructor(turn: Turn, sources: QuestionSources) {
    this.#turn = turn;
    this.#sources = sources;
  }

  /** @returns the answer, `undefined` to what nobody here can answer */
  async ask(id: string, request: JsonRecord): Promise<JsonRecord | undefined> {
    const open = new AbortController();
    this.#open.set(id, open);
    try {
      return await this.#answer(request, open.signal);
    } finally {
      this.#open.delete(id);
    }
  }

  /** Claude Code does not wait for this answer any more. */
  withdrawn(id: string): void {
    this.#open.get(id)?.abort();
  }

  end(): void {
    for (const open of this.#open.values()) open.abort();
  }

  async #answer(request: JsonRecord, signal: AbortSignal): Promise<JsonRecord | undefined> {
    if (request["subtype"] === "elicitation") return this.#elicit(request, signal);
    if (request["subtype"] !== "can_use_tool") return undefined;
    const isQuestion = request["tool_name"] === "AskUserQuestion";
    return isQuestion ? this.#askUser(request, signal) : this.#decide(request, decisionsOf(request), signal);
  }

  /** The last decision is the one that allows nothing. */
  async #decide(request: JsonRecord, decisions: readonly Decision[], signal: AbortSignal): Promise<JsonRecord> {
    const toolCall = await this.#toolCallOf(request);
    const chosen = await this.#choose({ toolCall, options: decisions.map(({ option }) => option) }, signal);
    return (decisions.find(({ option }) => option.optionId === chosen) ?? decisions.at(-1))?.answer ?? REJECTED;
  }

  /** As a form; where the client shows none, one question with one answer can be a choice. */
  async #askUser(request: JsonRecord, signal: AbortSignal): Promise<JsonRecord> {
    const input = recordOf(request["input"]);
    const questions = questionsIn(input);
    const [first] = questions;
    if (this.#turn.elicit) {
      const content = await this.#show({ ...formOf(questions), toolCallId: textOf(request["tool_use_id"]) }, signal);
      return content ? allow({ ...input, answers: answersOf(questions, content) }) : UNANSWERED;
    }
    if (!first || questions.length > 1 || first.isMultiple) return UNANSWERED;
    const decisions = first.labels.map((label, index) => ({
      option: { optionId: `answer-${index}`, name: label, kind: "allow_once" as const },
      answer: allow({ ...input, answers: { [first.question]: label } }),
    }));
    return this.#decide(request, [...decisions, { option: REJECT, answer: UNANSWERED }], signal);
  }

  async #elicit(request: JsonRecord, signal: AbortSignal): Promise<JsonRecord> {
    const { mode, message, requested_schema, mcp_server_name } = request;
    if (mode === "url") return { action: "decline" };
    const requestedSchema = recordOf(requested_schema) as ElicitationForm["requestedSchema"];
    const content = await this.#show(
      { message: `${textOf(mcp_server_name)}: ${textOf(message)}`, requestedSchema },
      signal,
    );
    return content ? { action: "accept", content } : { action: "decline" };
  }

  async #toolCallOf(request: JsonRecord): Promise<PermissionQuestion["toolCall"]> {
    const { tool_name: name, tool_use_id, decision_reason } = request;
    const toolCallId = textOf(tool_use_id);
    const plan = name === "ExitPlanMode" ? { plan: await this.#sources.plan() } : {};
    const input = { ...this.#sources.inputOf(toolCallId), ...plan, ...recordOf(request["input"]) };
    const view = toolView(textOf(name), input);
    const why = textOf(decision_reason);
    const content = [...(view.content ?? []), ...(why === "" ? [] : [textContent(why)])];
    return { toolCallId, ...view, ...(content.length > 0 && { content }) };
  }

  /** The option's id; `undefined` where the user did not choose: the turn was cancelled, or the client shows no questions. */
  async #choose(question: PermissionQuestion, signal: AbortSignal): Promise<string | undefined> {
    try {
      const { outcome } = await this.#turn.requestPermission(question, signal);
      return outcome.outcome === "selected" ? outcome.optionId : undefined;
    } catch {
      return undefined;
    }
  }

  async #show(form: ElicitationForm, signal: AbortSignal): Promise<JsonRecord | undefined> {
    try {
      const response = await this.#turn.elicit?.(form, signal);
      return response?.action === "accept" ? recordOf(response.content) : undefined;
    } catch {
      return undefined;
    }
  }
}

const REJECT: Option = { optionId: "reject", name: "Reject", kind: "reject_once" };
const REJECTED: JsonRecord = { behavior: "deny", message: "The user has rejected this call. Go on without it." };
const UNANSWERED: JsonRecord = { behavior: "deny", message: "The user has not answered. Go on as you think best." };
const KEEP_PLANNING: JsonRecord = { behavior: "deny", message: "The user wants to go on planning." };

function allow(updatedInput: JsonRecord, ...updatedPermissions: JsonRecord[]): JsonRecord {
  return { behavior: "allow", updatedInput, ...(updatedPermissions.length > 0 && { updatedPermissions }) };
}

function decisionsOf(request: JsonRecord): Decision[] {
  const input = recordOf(request["input"]);
  if (request["tool_name"] === "ExitPlanMode") return planDecisions(input);
  const isForOnce = request["suppress_always_allow_rule"] === true;
  const suggested = isForOnce ? [] : listOf(request["permission_suggestions"]).filter(isRecord);
  return [
    { option: { optionId: "allow", name: "Allow", kind: "allow_once" }, answer: allow(input) },
    ...suggested.flatMap((suggestion, index) => suggestedDecision(input, suggestion, index)),
    { option: REJECT, answer: REJECTED },
  ];
}

/** Claude Code goes on in the mode that the user chooses with it. */
function planDecisions(input: JsonRecord): Decision[] {
  const into = (mode: string): JsonRecord => allow(input, { type: "setMode", mode, destination: "session" });
  return [
    { option: { optionId: "default", name: "Go, and ask before edits", kind: "allow_once" }, answer: into("default") },
    {
      option: { optionId: "acceptEdits", name: "Go, and edit without asking", kind: "allow_always" },
      answer: into("acceptEdits"),
    },
    { option: { ...REJECT, name: "Go on planning" }, answer: KEEP_PLANNING },
  ];
}

/** What Claude Code suggests to remember: a rule, a folder or a mode. */
function suggestedDecision(input: JsonRecord, suggestion: JsonRecord, index: number): Decision[] {
  const name = suggestionName(suggestion);
  if (name === "") return [];
  const span = suggestion["destination"] === "session" ? " for this session" : "";
  return [
    {
      option: { optionId: `suggestion-${index}`, name: `${name}${span}`, kind: "allow_always" },
      answer: allow(input, suggestion),
    },
  ];
}

function suggestionName({ type, rules, behavior, directories, mode }: JsonRecord): string {
  if (type === "addRules" && behavior === "allow") return `Always allow ${listOf(rules).map(ruleName).join(", ")}`;
  if (type === "addDirectories") return `Allow the folder ${listOf(directories).map(textOf).join(", ")}`;
  return type === "setMode" && mode === "acceptEdits" ? "Allow all edits" : "";
}

function ruleName(rule: unknown): string {
  const { toolName, ruleContent } = recordOf(rule);
  const content = textOf(ruleContent);
  return content === "" ? textOf(toolName) : `${textOf(toolName)}(${content})`;
}
