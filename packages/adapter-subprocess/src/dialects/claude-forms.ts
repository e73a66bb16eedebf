import type { Turn } from "@acp-steering/kit";
import { isRecord, type JsonRecord, listOf, textOf } from "@acp-steering/kit/adapter";

export type ElicitationForm = Parameters<NonNullable<Turn["elicit"]>>[0];

type Property = NonNullable<ElicitationForm["requestedSchema"]["properties"]>[string];

/** A question of the model's to the user, with the answers that it offers. */
export interface UserQuestion {
  readonly question: string;
  readonly header: string;
  readonly labels: readonly string[];
  /** A line for each label. */
  readonly explained: string;
  readonly isMultiple: boolean;
}

/** The questions in the input of the tool `AskUserQuestion`. */
export function questionsIn({ questions }: JsonRecord): UserQuestion[] {
  return listOf(questions)
    .filter(isRecord)
    .map(({ question, header, options, multiSelect }) => {
      const offered = listOf(options).filter(isRecord);
      return {
        question: textOf(question),
        header: textOf(header),
        labels: offered.map(({ label }) => textOf(label)),
        explained: offered.map(({ label, description }) => `${textOf(label)}: ${textOf(description)}`).join("\n"),
        isMultiple: multiSelect === true,
      };
    });
}

export function formOf(questions: readonly UserQuestion[]): ElicitationForm {
  const properties = Object.fromEntries(questions.map((question, index) => [nameOf(index), propertyOf(question)]));
  return {
    message: questions.map(({ question }) => question).join("\n"),
    requestedSchema: { type: "object", properties, required: Object.keys(properties) },
  };
}

/** What the user filled in, by question, as Claude Code takes it. */
export function answersOf(questions: readonly UserQuestion[], content: JsonRecord): JsonRecord {
  return Object.fromEntries(
    questions.map(({ question }, index) => {
      const value = content[nameOf(index)];
      return [question, Array.isArray(value) ? value.join(", ") : textOf(value)];
    }),
  );
}

const nameOf = (index: number): string => `question${index + 1}`;

function propertyOf({ question, header, labels, explained, isMultiple }: UserQuestion): Property {
  const asked = { title: header || question, description: `${question}\n${explained}` };
  const items = { type: "string" as const, enum: [...labels] };
  return isMultiple ? { type: "array", ...asked, items } : { ...items, ...asked };
}
