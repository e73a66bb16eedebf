import type { ElicitationForm, PermissionQuestion, Turn } from "@acp-steering/kit";
import { isRecord, type JsonRecord, listOf, recordOf, textOf } from "@acp-steering/kit/adapter";
import { toolView } from "./codex-tools.js";

type Option = PermissionQuestion["options"][number];

/** An answer that Codex takes, and how the user sees it. */
interface Decision {
  readonly option: Option;
  readonly answer: JsonRecord;
}

const TURN_SCOPE = { permissions: {}, scope: "turn" };

/**
 * What Codex asks for its turn, put to the user.
 *
 * A rejection is Codex' `decline`: the model is told and the turn goes on. Its `cancel` would end the turn, and drop the
 * steers that wait.
 */
export class CodexQuestions {
  readonly #turn: Turn;
  readonly #open = new Map<unknown, AbortController>();

  constructor(turn: Turn) {
    this.#turn = turn;
  }

  /** @returns the answer, `undefined` to what nobody here can answer */
  async ask(id: unknown, method: string, params: JsonRecord): Promise<JsonRecord | undefined> {
    const open = new AbortController();
    this.#open.set(id, open);
    try {
      return await this.#answer(method, params, open.signal);
    } finally {
      this.#open.delete(id);
    }
  }

  /** Codex does not wait for this answer any more. */
  resolved(id: unknown): void {
    this.#open.get(id)?.abort();
  }

  end(): void {
    for (const open of this.#open.values()) open.abort();
  }

  async #answer(method: string, params: JsonRecord, signal: AbortSignal): Promise<JsonRecord | undefined> {
    switch (method) {
      case "item/commandExecution/requestApproval":
        return this.#decide(params, commandDecisions(params), signal);
      case "item/fileChange/requestApproval":
        return this.#decide(params, fileDecisions(), signal);
      case "item/permissions/requestApproval":
        return this.#decide(params, permissionDecisions(params), signal);
      case "item/tool/requestUserInput":
        return { answers: await this.#fillIn(params, signal) };
      case "mcpServer/elicitation/request":
        return this.#elicit(params, signal);
      default:
        return undefined;
    }
  }

  /** The last decision is the one that allows nothing. */
  async #decide(
    params: JsonRecord,
    decisions: readonly Decision[],
    signal: AbortSignal,
  ): Promise<JsonRecord | undefined> {
    const question = { toolCall: toolCallOf(params), options: decisions.map(({ option }) => option) };
    const chosen = await this.#choose(question, signal);
    return (decisions.find(({ option }) => option.optionId === chosen) ?? decisions.at(-1))?.answer;
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

  async #fillIn({ questions, itemId }: JsonRecord, signal: AbortSignal): Promise<JsonRecord> {
    const asked = listOf(questions).filter(isRecord);
    const properties = Object.fromEntries(asked.map((question) => [textOf(question["id"]), propertyOf(question)]));
    const form: ElicitationForm = {
      message: asked.map(({ question }) => textOf(question)).join("\n"),
      requestedSchema: { type: "object", properties, required: Object.keys(properties) },
      toolCallId: textOf(itemId),
    };
    const content = await this.#show(form, signal);
    const answers = Object.entries(content ?? {}).map(([id, value]) => [id, { answers: [String(value)] }]);
    return Object.fromEntries(answers);
  }

  async #elicit(params: JsonRecord, signal: AbortSignal): Promise<JsonRecord> {
    const { mode, message, requestedSchema, serverName } = params;
    const properties = recordOf(recordOf(requestedSchema)["properties"]);
    const said = `${textOf(serverName)}: ${textOf(message)}`;
    if (mode !== "form") return { action: "decline", content: null, _meta: null };
    if (Object.keys(properties).length === 0) return this.#confirm(said, signal);
    const schema = requestedSchema as ElicitationForm["requestedSchema"];
    const content = await this.#show({ message: said, requestedSchema: schema }, signal);
    return { action: content ? "accept" : "decline", content: content ?? null, _meta: null };
  }

  /** A form without fields is a yes or no, which every client can show. */
  async #confirm(title: string, signal: AbortSignal): Promise<JsonRecord> {
    const options: Option[] = [
      { optionId: "accept", name: "Allow", kind: "allow_once" },
      { optionId: "decline", name: "Reject", kind: "reject_once" },
    ];
    const toolCallId = `question-${crypto.randomUUID()}`;
    const isAccepted = (await this.#choose({ toolCall: { toolCallId, title }, options }, signal)) === "accept";
    return { action: isAccepted ? "accept" : "decline", content: isAccepted ? {} : null, _meta: null };
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

/** Codex has shown the item before; a command's own words are repeated, since one item can ask about several. */
function toolCallOf(params: JsonRecord): PermissionQuestion["toolCall"] {
  const { itemId, command, reason, networkApprovalContext } = params;
  const view = typeof command === "string" ? toolView({ type: "commandExecution", ...params }) : undefined;
  const host = textOf(recordOf(networkApprovalContext)["host"]);
  const why = [textOf(reason), host && `Network access to ${host}`].filter(Boolean).join("\n");
  return {
    toolCallId: textOf(itemId),
    ...view,
    ...(why !== "" && { content: [{ type: "content", content: { type: "text", text: why } }] }),
  };
}

const REJECT: Option = { optionId: "decline", name: "Reject", kind: "reject_once" };
const DECLINED: Decision = { option: REJECT, answer: { decision: "decline" } };

function fileDecisions(): Decision[] {
  return [
    decision("accept", "Allow", "allow_once"),
    decision("acceptForSession", "Allow for this session", "allow_always"),
    DECLINED,
  ];
}

/** Codex lists what it suggests; of that its `cancel` is left out, see above. For the session it takes always. */
function commandDecisions({ availableDecisions, networkApprovalContext }: JsonRecord): Decision[] {
  const suggested = listOf(availableDecisions);
  const amendments = suggested.filter(isRecord).flatMap(amendmentOf);
  const forSession = decision("acceptForSession", "Allow for this session", "allow_always");
  const isForSession = !isRecord(networkApprovalContext) || suggested.includes("acceptForSession");
  return [decision("accept", "Allow", "allow_once"), ...(isForSession ? [forSession] : []), ...amendments, DECLINED];
}

function amendmentOf(suggested: JsonRecord, index: number): Decision[] {
  const { execpolicy_amendment: command } = recordOf(suggested["acceptWithExecpolicyAmendment"]);
  const { network_policy_amendment: network } = recordOf(suggested["applyNetworkPolicyAmendment"]);
  const { host, action } = recordOf(network);
  const optionId = `amendment-${index}`;
  const answer = { decision: suggested };
  if (Array.isArray(command)) {
    const name = `Always allow commands that begin with \`${command.join(" ")}\``;
    return [{ option: { optionId, name, kind: "allow_always" }, answer }];
  }
  if (typeof host !== "string") return [];
  return action === "deny"
    ? [{ option: { optionId, name: `Never allow ${host}`, kind: "reject_always" }, answer }]
    : [{ option: { optionId, name: `Always allow ${host}`, kind: "allow_always" }, answer }];
}

function permissionDecisions({ permissions }: JsonRecord): Decision[] {
  const wanted = Object.fromEntries(Object.entries(recordOf(permissions)).filter(([, value]) => value !== null));
  return [
    { ...decision("accept", "Allow", "allow_once"), answer: { permissions: wanted, scope: "turn" } },
    {
      ...decision("acceptForSession", "Allow for this session", "allow_always"),
      answer: { permissions: wanted, scope: "session" },
    },
    { ...DECLINED, answer: TURN_SCOPE },
  ];
}

function decision(name: string, label: string, kind: Option["kind"]): Decision {
  return { option: { optionId: name, name: label, kind }, answer: { decision: name } };
}

function propertyOf({ question, header, options, isOther }: JsonRecord): {
  type: "string";
  title: string;
  description: string;
  enum?: string[];
} {
  const labels = listOf(options)
    .filter(isRecord)
    .map(({ label }) => textOf(label));
  const asked = { type: "string" as const, title: textOf(header), description: textOf(question) };
  if (labels.length === 0) return asked;
  // Another answer than those is one too.
  return isOther === true
    ? { ...asked, description: `${asked.description} (${labels.join(", ")})` }
    : { ...asked, enum: labels };
}
