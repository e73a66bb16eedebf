import type { PermissionQuestion, Turn } from "@acp-steering/kit";
import type { AskEvent, PermissionChoice } from "./bridge-protocol.js";
import type { SessionUpdate, ToolContent } from "./session-update.js";
import { codeContent, diffsOf } from "./tool-cards.js";

type Option = PermissionQuestion["options"][number];

const OPTIONS: Readonly<Record<PermissionChoice, Option>> = {
  once: { optionId: "allow_once", name: "Allow once", kind: "allow_once" },
  session: { optionId: "allow_session", name: "Allow for this session", kind: "allow_always" },
  always: { optionId: "allow_always", name: "Always allow", kind: "allow_always" },
  deny: { optionId: "deny", name: "Deny", kind: "reject_once" },
};

const CHOICES: readonly PermissionChoice[] = ["once", "session", "always", "deny"];

/** The open questions of one turn. Whatever is not a clear permission of the user is `deny`. */
export class Permissions {
  readonly #turn: Turn;
  readonly #answer: (ask: string, choice: PermissionChoice) => void;
  readonly #open = new Map<string, AbortController>();

  constructor(turn: Turn, answer: (ask: string, choice: PermissionChoice) => void) {
    this.#turn = turn;
    this.#answer = answer;
  }

  /** Asks the user and tells Hermes. Never rejects. */
  async ask(event: AskEvent): Promise<void> {
    const withdrawn = new AbortController();
    this.#open.set(event.ask, withdrawn);
    const choice = await this.#choice(event, withdrawn.signal);
    // Taken back: nobody waits for the answer any more.
    if (!this.#open.delete(event.ask)) return;
    this.#conclude(event, choice);
    this.#answer(event.ask, choice);
  }

  /** Hermes does not wait for this answer any more. */
  withdraw(event: { readonly ask: string }): void {
    const withdrawn = this.#open.get(event.ask);
    this.#open.delete(event.ask);
    withdrawn?.abort();
  }

  /** The turn is over or being stopped: what is open is denied. */
  end(): void {
    for (const [ask, withdrawn] of this.#open) {
      withdrawn.abort();
      this.#answer(ask, "deny");
    }
    this.#open.clear();
  }

  async #choice(event: AskEvent, signal: AbortSignal): Promise<PermissionChoice> {
    const offered = CHOICES.filter((choice) => choice === "deny" || event.choices.includes(choice));
    try {
      const question = { toolCall: toolCallOf(event), options: offered.map((choice) => OPTIONS[choice]) };
      const { outcome } = await this.#turn.requestPermission(question, signal);
      if (outcome.outcome !== "selected") return "deny";
      return offered.find((choice) => OPTIONS[choice].optionId === outcome.optionId) ?? "deny";
    } catch {
      // The client is gone, or its answer made no sense.
      return "deny";
    }
  }

  /** A question that belongs to no tool call made one of its own, which would stay open at the client. */
  #conclude(event: AskEvent, choice: PermissionChoice): void {
    if (event.call !== undefined) return;
    const status = choice === "deny" ? "failed" : "completed";
    this.#turn.update({ sessionUpdate: "tool_call_update", toolCallId: toolCallIdOf(event), status });
  }
}

type ToolCall = Extract<SessionUpdate, { sessionUpdate: "tool_call_update" }>;

function toolCallOf(event: AskEvent): Omit<ToolCall, "sessionUpdate"> {
  const { edits = [], paths = edits.map(({ path }) => path) } = event;
  const isEdit = event.kind === "edit";
  return {
    toolCallId: toolCallIdOf(event),
    title: isEdit ? `Edit ${paths.join(", ")}` : (event.command ?? "Run a command"),
    kind: isEdit ? "edit" : "execute",
    status: "pending",
    content: isEdit ? diffsOf(edits) : commandContent(event),
    locations: paths.map((path) => ({ path })),
  };
}

function toolCallIdOf({ ask, call }: AskEvent): string {
  return call ?? `permission-${ask}`;
}

function commandContent({ command = "", description = "" }: AskEvent): ToolContent[] {
  const why: ToolContent[] =
    description === "" ? [] : [{ type: "content", content: { type: "text", text: description } }];
  return [...codeContent(command, "sh"), ...why];
}
