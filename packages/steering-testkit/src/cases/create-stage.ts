import type { WireClient } from "../wire-client.js";
import type { ContentBlockLike } from "../wire-record.js";
import { newMark } from "./mark.js";
import { allowOnce } from "./permissions.js";
import type { Behind, Boundary, OpenTurn, Stage } from "./stage.js";

/** What a stage is made of. */
export interface StageParts {
  readonly client: WireClient;
  readonly behind: Behind;
  readonly cwd: string;
  readonly sessionId: string;
  /** The agent's answer to `initialize`. */
  readonly initialized: Readonly<Record<string, unknown>>;
  readonly boundary?: Boundary | undefined;
  quiet(): Promise<void>;
}

/** A stage, and the end of the patience with the case that is played on it. */
export interface OwnedStage extends Stage {
  /** What the case waits for now. */
  readonly awaited: readonly string[];
  /** The problems that the case has noted so far. */
  readonly noted: readonly string[];
  /** Every wait of the case, now and later, fails with what it was for. */
  giveUp(): void;
}

const VAIN = "waited in vain for";

/** Puts a stage together; the same in the conformance suite and in the wire check. */
export function createStage({ client, behind, cwd, sessionId, initialized, boundary, quiet }: StageParts): OwnedStage {
  const waits = new Map<(error: Error) => void, string>();
  const openTurns = new Set<OpenTurn>();
  const noted: string[] = [];
  let over = false;

  const until = <Value>(what: string, promise: PromiseLike<Value>): Promise<Value> => {
    const waiting = new Promise<Value>((resolve, reject) => {
      if (over) return reject(new Error(`${VAIN} ${what}`));
      waits.set(reject, what);
      const leave = (): boolean => waits.delete(reject);
      promise.then(
        (value) => leave() && resolve(value),
        (error: unknown) => leave() && reject(error),
      );
    });
    // A case that has failed by one of its waits no longer looks at the others, nor does one that was given up.
    waiting.catch(() => {});
    promise.then(undefined, () => {});
    return waiting;
  };

  const prompt = (blocks: readonly ContentBlockLike[] = [], inSession = sessionId): OpenTurn => {
    const mark = newMark();
    const text = `Answer with the word ${mark} and do nothing else.`;
    const sent = client.prompt(inSession, [{ type: "text", text }, ...blocks]);
    const turn: OpenTurn = { ...sent, mark, sessionId: inSession };
    const close = (): boolean => openTurns.delete(turn);
    openTurns.add(turn);
    sent.answer.then(close, close);
    return turn;
  };

  client.permission = allowOnce;
  return {
    client,
    sessionId,
    cwd,
    behind,
    boundary,
    openTurns,
    noted,
    advertisement: objectAt(objectAt(initialized, "_meta"), "steering"),
    capabilities: objectAt(initialized, "agentCapabilities"),
    mark: newMark,
    prompt,
    session: () => until("a second session", client.newSession(cwd)),
    quiet,
    since: (order) => client.log.filter((record) => record.order >= order && record.direction === "in"),
    until,
    note: (problem) => {
      if (typeof problem === "string") noted.push(problem);
    },
    get awaited() {
      return [...waits.values()];
    },
    giveUp: () => {
      over = true;
      for (const [reject, what] of waits) reject(new Error(`${VAIN} ${what}`));
      waits.clear();
    },
  };
}

/** The object at that name, or an empty one. */
export function objectAt(value: unknown, name: string): Readonly<Record<string, unknown>> {
  const member = (value as Record<string, unknown> | null | undefined)?.[name];
  return typeof member === "object" && member !== null && !Array.isArray(member)
    ? (member as Record<string, unknown>)
    : {};
}
