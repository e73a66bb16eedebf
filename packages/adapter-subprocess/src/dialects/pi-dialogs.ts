import type { ElicitationForm, PermissionQuestion, Turn } from "@acp-steering/kit";
import { type JsonRecord, type Log, listOf, numberOf, recordOf, textOf } from "@acp-steering/kit/adapter";
import type { Channel } from "../dialect.js";

/** A question of an extension, which waits for the answer. Its other requests only tell. */
interface PiDialog {
  readonly id: string;
  readonly method: "select" | "confirm" | "input" | "editor";
  readonly title: string;
  readonly message: string;
  readonly options: readonly string[];
  /** What the field shows: an example, or the text to be changed. */
  readonly placeholder: string;
  readonly prefill: string;
  /** After this many milliseconds Pi answers for the user; 0: never. */
  readonly timeout: number;
}

/** What Pi is told: the user's answer, or that there is none. */
type DialogAnswer = { readonly value: string } | { readonly confirmed: boolean } | { readonly cancelled: true };

const CANCELLED: DialogAnswer = { cancelled: true };

const METHODS: readonly unknown[] = ["select", "confirm", "input", "editor"];

/** Whether an extension asks something, and waits for the answer. */
export function isDialog(request: JsonRecord): boolean {
  return request["type"] === "extension_ui_request" && METHODS.includes(request["method"]);
}

/** Tells Pi that nobody answers, where nobody can be asked. Anything but a dialog needs no answer. */
export function dismissDialog(channel: Channel, request: JsonRecord): void {
  if (isDialog(request)) answer(channel, textOf(request["id"]), CANCELLED);
}

/**
 * Asks the user what an extension of Pi asks: in a form where the client shows forms, else as a choice. A text can only
 * be asked for in a form.
 *
 * @param over aborts when nobody waits for the answer any more
 */
export async function askDialog(channel: Channel, turn: Turn, request: JsonRecord, over: AbortSignal): Promise<void> {
  const dialog = readDialog(request);
  const late = dialog.timeout > 0 ? AbortSignal.any([over, AbortSignal.timeout(dialog.timeout)]) : over;
  // A refused or withdrawn question is one that the user does not answer.
  const given = await ask(turn, dialog, late, channel.log).catch(() => CANCELLED);
  answer(channel, dialog.id, given);
}

function answer(channel: Channel, id: string, given: DialogAnswer): void {
  void channel.send({ type: "extension_ui_response", id, ...given });
}

function readDialog(request: JsonRecord): PiDialog {
  return {
    id: textOf(request["id"]),
    method: request["method"] as PiDialog["method"],
    title: textOf(request["title"]),
    message: textOf(request["message"]),
    options: listOf(request["options"]).map(textOf),
    placeholder: textOf(request["placeholder"]),
    prefill: textOf(request["prefill"]),
    timeout: numberOf(request["timeout"]),
  };
}

async function ask(turn: Turn, dialog: PiDialog, signal: AbortSignal, log: Log): Promise<DialogAnswer> {
  if (turn.elicit) {
    try {
      return readForm(dialog, await turn.elicit(formFor(dialog), signal));
    } catch (error) {
      if (signal.aborted || turn.signal.aborted) throw error;
      // A client that declares forms and then refuses them can still be asked the other way.
    }
  }
  const choices = choicesFor(dialog);
  if (choices.length === 0) {
    log(`an extension of Pi asks for a text, which this client has no form for: answered as cancelled`);
    return CANCELLED;
  }
  const { outcome } = await turn.requestPermission(questionFor(dialog, choices), signal);
  const chosen = outcome.outcome === "selected" ? choices[Number(outcome.optionId)] : undefined;
  return chosen?.answer ?? CANCELLED;
}

const FIELD = "answer";

type Field = NonNullable<ElicitationForm["requestedSchema"]["properties"]>[string];

function formFor(dialog: PiDialog): ElicitationForm {
  return {
    message: wordsOf(dialog),
    requestedSchema: { type: "object", properties: { [FIELD]: fieldFor(dialog) }, required: [FIELD] },
  };
}

function fieldFor({ method, title, options, placeholder, prefill }: PiDialog): Field {
  switch (method) {
    case "select":
      return { type: "string", title, enum: [...options] };
    case "confirm":
      return { type: "boolean", title, default: true };
    case "input":
      return { type: "string", title, ...(placeholder !== "" && { description: placeholder }) };
    case "editor":
      return { type: "string", title, default: prefill };
  }
}

type FormAnswer = Awaited<ReturnType<NonNullable<Turn["elicit"]>>>;

function readForm({ method }: PiDialog, answered: FormAnswer): DialogAnswer {
  if (answered.action === "decline" && method === "confirm") return { confirmed: false };
  if (answered.action !== "accept") return CANCELLED;
  const given = recordOf(answered.content)[FIELD];
  if (method === "confirm") return { confirmed: given === true };
  return typeof given === "string" ? { value: given } : CANCELLED;
}

interface Choice {
  readonly name: string;
  readonly kind: PermissionQuestion["options"][number]["kind"];
  readonly answer: DialogAnswer;
}

function choicesFor({ method, options }: PiDialog): Choice[] {
  if (method === "select") {
    const choices = options.map((name): Choice => ({ name, kind: "allow_once", answer: { value: name } }));
    return [...choices, { name: "Skip", kind: "reject_once", answer: CANCELLED }];
  }
  if (method !== "confirm") return [];
  return [
    { name: "Yes", kind: "allow_once", answer: { confirmed: true } },
    { name: "No", kind: "reject_once", answer: { confirmed: false } },
  ];
}

function questionFor(dialog: PiDialog, choices: readonly Choice[]): PermissionQuestion {
  return {
    toolCall: {
      toolCallId: `pi-dialog-${dialog.id}`,
      title: dialog.title,
      kind: "other",
      content: [{ type: "content", content: { type: "text", text: wordsOf(dialog) } }],
    },
    options: choices.map(({ name, kind }, index) => ({ optionId: String(index), name, kind })),
  };
}

function wordsOf({ title, message }: PiDialog): string {
  return message === "" ? title : `${title}\n${message}`;
}
