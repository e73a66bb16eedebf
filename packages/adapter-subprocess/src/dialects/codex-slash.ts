import type { ContentBlock } from "@acp-steering/core";
import type { VendorSession } from "@acp-steering/kit";
import { isRecord, type JsonRecord, listOf, textOf } from "@acp-steering/kit/adapter";
import { toCodexInput } from "./codex-content.js";

type Command = NonNullable<VendorSession["commands"]>[number];

/** The request with which Codex begins its turn. */
export interface Beginning {
  readonly method: string;
  readonly params: JsonRecord;
}

interface Skill {
  readonly name: string;
  readonly description: string;
  readonly path: string;
}

const OWN_COMMANDS: readonly Command[] = [
  { name: "compact", description: "Sum the conversation up, to make room for more" },
  {
    name: "review",
    description: "Review the changes that are not committed, or what you say",
    input: { hint: "what to review" },
  },
];

/** What a prompt may begin with: two of Codex' own commands, and the user's skills. */
export class CodexSlash {
  readonly #skills: readonly Skill[];

  /** @param skills the `data` of `skills/list` */
  constructor(skills: unknown) {
    const taken = OWN_COMMANDS.map(({ name }) => name);
    this.#skills = listOf(skills)
      .filter(isRecord)
      .flatMap((entry) => listOf(entry["skills"]).filter(isRecord))
      .filter(({ enabled, name }) => enabled === true && !taken.includes(textOf(name)))
      .map(({ name, description, path }) => ({
        name: textOf(name),
        description: textOf(description),
        path: textOf(path),
      }));
  }

  get commands(): readonly Command[] {
    const ofSkills = this.#skills.map(({ name, description }) => ({ name, description, input: { hint: "the task" } }));
    return [...OWN_COMMANDS, ...ofSkills];
  }

  beginningOf(prompt: readonly ContentBlock[]): Beginning {
    const [first, ...more] = prompt;
    const [, name = "", words = ""] = (first?.type === "text" && /^\/(\S+)\s*(.*)$/s.exec(first.text)) || [];
    if (name === "compact") return { method: "thread/compact/start", params: {} };
    if (name === "review") return { method: "review/start", params: { target: reviewOf(words) } };
    const skill = this.#skills.find((known) => known.name === name);
    const input = skill ? [...inputOf(skill, words), ...toCodexInput(more)] : toCodexInput(prompt);
    return { method: "turn/start", params: { input } };
  }
}

function reviewOf(instructions: string): JsonRecord {
  return instructions.trim() === "" ? { type: "uncommittedChanges" } : { type: "custom", instructions };
}

/** As Codex' own terminal sends it: the skill, and its name in the text. */
function inputOf({ name, path }: Skill, words: string): JsonRecord[] {
  return [
    { type: "skill", name, path },
    { type: "text", text: `$${name} ${words}`.trim(), text_elements: [] },
  ];
}
