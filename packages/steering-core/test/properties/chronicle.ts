/** A history with the questions that its entries alone answer. */
import type { Entry } from "./history.js";
import type { Scenario } from "./scenario.js";

/** The place of what did not happen. */
export const NEVER: number = Number.POSITIVE_INFINITY;

export const STEERING = "_session/steering";

/** The updates that show an agent at work (spec §5). */
const WORK = [
  "user_message_chunk",
  "agent_message_chunk",
  "agent_thought_chunk",
  "tool_call",
  "tool_call_update",
  "plan",
];

/** The words that messages of a world have of their own, in the order in which they stand there. */
export const tokensOf = (value: unknown): string[] => JSON.stringify(value ?? "").match(/\bm\d+\b/g) ?? [];

export type OfKind<Kind extends Entry["kind"]> = Kind extends unknown ? Extract<Entry, { kind: Kind }> : never;

export class Chronicle {
  readonly scenario: Scenario;
  readonly entries: readonly Entry[];

  constructor(scenario: Scenario, entries: readonly Entry[]) {
    this.scenario = scenario;
    this.entries = entries;
  }

  of<Kind extends Entry["kind"]>(...kinds: readonly Kind[]): OfKind<Kind>[] {
    return this.entries.filter((entry): entry is OfKind<Kind> => (kinds as readonly string[]).includes(entry.kind));
  }

  /** What came of the same cause, from there on. */
  sameStep(entry: Entry): Entry[] {
    const rest: Entry[] = [];
    for (let at = entry.at + 1; this.entries[at]?.step === entry.step; at += 1) rest.push(this.entries[at] as Entry);
    return rest;
  }

  /** From where on a connection was gone: its client, or its agent. */
  goneAt(link: number): number {
    return this.of("clientLeft", "agentLeft").find((entry) => entry.link === link)?.at ?? NEVER;
  }

  hasAgentLeft(link: number): boolean {
    return this.of("agentLeft").some((entry) => entry.link === link);
  }

  hasClientLeft(link: number): boolean {
    return this.of("clientLeft").some((entry) => entry.link === link);
  }

  /** Messages of a method that clients sent. */
  sent(method: string): OfKind<"clientSent">[] {
    return this.of("clientSent").filter(({ message }) => message.method === method);
  }

  /** Messages of a method that the agent got. */
  got(method: string): OfKind<"agentGot">[] {
    return this.of("agentGot").filter(({ message }) => message.method === method);
  }

  linksThatWant(wish: "receipts" | "echo"): number[] {
    return this.scenario.actors.flatMap((actor, link) => (actor[wish] ? [link] : []));
  }

  wants(link: number, wish: "receipts" | "echo"): boolean {
    return this.scenario.actors[link]?.[wish] === true;
  }

  isSign(entry: Entry, sessionId: string): boolean {
    if (entry.kind !== "agentSent") return false;
    const { method, id, params } = entry.message;
    if (params?.sessionId !== sessionId) return false;
    return id !== undefined ? method !== undefined : WORK.includes(params.update?.sessionUpdate);
  }

  /** Where words turned up on the agent's side: in prompts, in what was taken, in what the driver was given. */
  placesOf(token: string): OfKind<"took" | "injected" | "agentGot">[] {
    return this.of("took", "injected", "agentGot").filter((entry) => {
      if (entry.kind === "took") return tokensOf(entry.steers).includes(token);
      if (entry.kind === "injected") return tokensOf(entry.text).includes(token);
      return entry.message.method === "session/prompt" && tokensOf(entry.message.params.prompt).includes(token);
    });
  }
}

type Update = OfKind<"clientGot" | "agentSent">;

export const shownBy = ({ message }: Update): unknown => message.params?.update?.content;

export const isUserMessage = ({ message }: Update): boolean =>
  message.params?.update?.sessionUpdate === "user_message_chunk";

/** What the agent sent came out at its client as it was. */
export const hasPassed = (effects: readonly Entry[], { link, message }: OfKind<"agentSent">): boolean =>
  effects.some(
    (got) =>
      got.kind === "clientGot" &&
      got.link === link &&
      got.message.method === message.method &&
      JSON.stringify(got.message.params) === JSON.stringify(message.params),
  );
