import type { ElicitationForm, Turn } from "@acp-steering/kit";
import { type JsonRecord, listOf, recordOf, textOf } from "@acp-steering/kit/adapter";

interface QuestionOption {
  readonly id: string;
  readonly label: string;
  readonly description: string;
}

interface Question {
  readonly id: string;
  readonly text: string;
  readonly header: string;
  readonly options: readonly QuestionOption[];
  readonly many: boolean;
  /** The user may answer with words of their own. */
  readonly allowsOther: boolean;
}

/** Questions that Kimi's model asks the user, as its event tells of them. */
export interface KimiQuestions {
  readonly id: string;
  readonly toolCallId: string;
  readonly questions: readonly Question[];
}

/** Kimi's question id → the user's answer, as Kimi takes it. */
export type QuestionAnswers = Readonly<Record<string, JsonRecord>>;

/** Reads the event `event.question.requested`. */
export function readQuestions(event: JsonRecord): KimiQuestions {
  return {
    id: textOf(event["question_id"]),
    toolCallId: textOf(event["tool_call_id"]),
    questions: listOf(event["questions"]).map((question) => readQuestion(recordOf(question))),
  };
}

/** Asks the user: all at once in a form where the client shows forms, else one by one. `undefined`: the user does not answer. */
export async function askQuestions(
  turn: Turn,
  asked: KimiQuestions,
  signal: AbortSignal,
): Promise<QuestionAnswers | undefined> {
  if (turn.elicit) {
    try {
      const answer = await turn.elicit(formFor(asked), signal);
      return answer.action === "accept" ? readForm(asked.questions, recordOf(answer.content)) : undefined;
    } catch (error) {
      if (signal.aborted || turn.signal.aborted) throw error;
      // A client that declares forms and then refuses them can still be asked the other way.
    }
  }
  return askOneByOne(turn, asked, signal);
}

function readQuestion(question: JsonRecord): Question {
  return {
    id: textOf(question["id"]),
    text: textOf(question["question"]),
    header: textOf(question["header"]),
    many: question["multi_select"] === true,
    allowsOther: question["allow_other"] === true,
    options: listOf(question["options"]).map((option) => {
      const { id, label, description } = recordOf(option);
      return { id: textOf(id), label: textOf(label), description: textOf(description) };
    }),
  };
}

/** The field for an answer in the user's own words stands beside the choice. */
const OTHER = "_other";

function formFor({ questions, toolCallId }: KimiQuestions): ElicitationForm {
  return {
    message: questions.map(({ text }) => text).join("\n"),
    toolCallId,
    requestedSchema: { type: "object", properties: Object.fromEntries(questions.flatMap(fieldsFor)) },
  };
}

type Fields = NonNullable<ElicitationForm["requestedSchema"]["properties"]>;

function fieldsFor({ id, text, header, options, many, allowsOther }: Question): [string, Fields[string]][] {
  const title = header || text;
  const choices = options.map((option) => ({ const: option.id, title: option.label, description: option.description }));
  const choice: Fields[string] = many
    ? { type: "array", title, description: text, items: { anyOf: choices } }
    : { type: "string", title, description: text, oneOf: choices };
  if (!allowsOther) return [[id, choice]];
  return [
    [id, choice],
    [id + OTHER, { type: "string", title: `${title} (in your own words)` }],
  ];
}

function readForm(questions: readonly Question[], content: JsonRecord): QuestionAnswers | undefined {
  const answers = questions.flatMap((question) => {
    const answer = readField(question, content);
    return answer ? [[question.id, answer] as const] : [];
  });
  return answers.length > 0 ? Object.fromEntries(answers) : undefined;
}

function readField({ id, options, many }: Question, content: JsonRecord): JsonRecord | undefined {
  const other = textOf(content[id + OTHER]).trim();
  const given = many ? listOf(content[id]) : [content[id]];
  const chosen = options.filter((option) => given.includes(option.id)).map((option) => option.id);
  if (many && other !== "") return { kind: "multi_with_other", option_ids: chosen, other_text: other };
  if (other !== "") return { kind: "other", text: other };
  if (chosen.length === 0) return undefined;
  return many ? { kind: "multi", option_ids: chosen } : { kind: "single", option_id: chosen[0] };
}

const SKIP = "skip";

async function askOneByOne(
  turn: Turn,
  { questions, toolCallId }: KimiQuestions,
  signal: AbortSignal,
): Promise<QuestionAnswers | undefined> {
  const answers: Record<string, JsonRecord> = {};
  for (const question of questions) {
    const { outcome } = await turn.requestPermission(choiceFor(question, toolCallId), signal);
    if (outcome.outcome === "cancelled") return undefined;
    const chosen = question.options.find(({ id }) => id === outcome.optionId);
    if (!chosen) continue;
    answers[question.id] = question.many
      ? { kind: "multi", option_ids: [chosen.id] }
      : { kind: "single", option_id: chosen.id };
  }
  return Object.keys(answers).length > 0 ? answers : undefined;
}

function choiceFor(question: Question, toolCallId: string): Parameters<Turn["requestPermission"]>[0] {
  const options = question.options.map(({ id, label }) => ({ optionId: id, name: label, kind: "allow_once" as const }));
  return {
    toolCall: {
      toolCallId,
      title: question.text,
      kind: "other",
      content: [{ type: "content", content: { type: "text", text: describe(question) } }],
    },
    options: [...options, { optionId: SKIP, name: "Skip", kind: "reject_once" }],
  };
}

function describe({ text, options }: Question): string {
  return [text, ...options.map(({ label, description }) => `- ${label}: ${description}`)].join("\n");
}
