import type { InjectCall } from "@acp-steering/core";

/** What an agent says of a steer that it has. */
export type Report = "delivered" | "undelivered";

interface Awaited {
  readonly call: InjectCall;
  /** What the agent can call it: an id, or its text. */
  readonly names: readonly string[];
}

/** An agent that never reports must not fill the memory. */
const MOST_AWAITED = 64;

const keep = <Entry>(entries: readonly Entry[], entry: Entry): readonly Entry[] => [
  ...entries.slice(1 - MOST_AWAITED),
  entry,
];

/** The steers that an agent has and of which it will say more. */
export class AwaitedReports {
  #awaited: readonly Awaited[] = [];
  #early: readonly { readonly key: string; readonly report: Report }[] = [];

  /** From now on a report of one of these names is the steer's; one that came before its name was known is told at once. */
  expect(call: InjectCall, ...names: readonly string[]): void {
    const keys = names.map((name) => keyOf(call.sessionId, name));
    const early = this.#early.find(({ key }) => keys.includes(key));
    if (early) call[early.report]();
    else this.#awaited = keep(this.#awaited, { call, names });
  }

  /** The agent has not taken it after all. */
  forget(call: InjectCall): void {
    this.#awaited = this.#awaited.filter((awaited) => awaited.call !== call);
  }

  /** Passes a report on to the first steer of that name. */
  tell(sessionId: unknown, name: unknown, report: Report): boolean {
    const found = this.#awaited.find(({ call, names }) => call.sessionId === sessionId && names.includes(String(name)));
    if (found) this.#report(found, report);
    return found !== undefined;
  }

  /** The same for a name that no other steer ever has: the report may precede the answer that gives the name. */
  tellOrKeep(sessionId: unknown, name: string, report: Report): void {
    if (!this.tell(sessionId, name, report)) this.#early = keep(this.#early, { key: keyOf(sessionId, name), report });
  }

  /** Passes a report on to all of that session. */
  tellAll(sessionId: unknown, report: Report): void {
    for (const awaited of this.#awaited.filter(({ call }) => call.sessionId === sessionId))
      this.#report(awaited, report);
  }

  #report({ call }: Awaited, report: Report): void {
    this.forget(call);
    call[report]();
  }
}

const keyOf = (sessionId: unknown, name: string): string => `${String(sessionId)}\n${name}`;
