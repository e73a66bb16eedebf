import { readFileSync } from "node:fs";
import type { Turn } from "@acp-steering/kit";
import type { JsonRecord } from "@acp-steering/kit/adapter";
import { expect } from "vitest";
import type { Channel, SessionUpdate } from "../src/dialect.js";
import { CodexSession } from "../src/dialects/codex-session.js";

type Line = { readonly to: JsonRecord } | { readonly from: JsonRecord };

/** A session over a recording of the real Codex: what is sent has to be what was recorded, and is answered as it was. */
export class CodexPlayback implements Channel {
  readonly cwd = "/project";
  readonly session: CodexSession;
  readonly logged: string[] = [];
  readonly #lines: Line[];
  readonly #waiting = new Map<string, () => void>();

  constructor(recording: string, replace: Readonly<Record<string, string>> = {}) {
    let text = readFileSync(fixture(recording), "utf8");
    for (const [recorded, present] of Object.entries(replace)) text = text.replaceAll(recorded, present);
    this.#lines = text
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as Line);
    this.session = new CodexSession(this);
  }

  get finished(): boolean {
    return this.#lines.length === 0;
  }

  readonly log = (line: string): void => {
    this.logged.push(line);
  };

  async send(record: JsonRecord): Promise<void> {
    expect({ to: record }).toEqual(this.#lines.shift());
    setImmediate(() => this.#play());
  }

  async stop(): Promise<void> {}

  /** Resolves when the recording goes on with that request of ours. */
  untilItIs(method: string): Promise<void> {
    return new Promise((resolve) => this.#waiting.set(method, resolve));
  }

  #play(): void {
    for (let line = this.#lines[0]; line && "from" in line; [line] = this.#lines) {
      this.#lines.shift();
      this.session.receive(line.from);
    }
    const [next] = this.#lines;
    if (next && "to" in next) this.#waiting.get(String(next.to["method"]))?.();
  }
}

export function fixture(name: string): URL {
  return new URL(`fixtures/${name}`, import.meta.url);
}

export interface PlayedTurn {
  readonly turn: Turn;
  readonly updates: SessionUpdate[];
  readonly questions: unknown[];
}

/** A turn whose user allows everything once. */
export function turnOf(text: string): PlayedTurn {
  const updates: SessionUpdate[] = [];
  const questions: unknown[] = [];
  const turn: Turn = {
    prompt: [{ type: "text", text }],
    continuation: false,
    signal: new AbortController().signal,
    update: (update) => updates.push(update),
    flushed: async () => {},
    requestPermission: async (question) => {
      questions.push(question);
      const { optionId } = question.options.find(({ kind }) => kind === "allow_once") ?? { optionId: "none" };
      return { outcome: { outcome: "selected", optionId } };
    },
    take: () => [],
  };
  return { turn, updates, questions };
}
