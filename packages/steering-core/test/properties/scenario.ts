/**
 * What a world is made of: policies, what the clients do, how the agent and the driver behave. Plain data, so that
 * fast-check can shrink it and a regression test can state it.
 */
import fc from "fast-check";

export type Action =
  | { readonly do: "prompt" | "steerCommand" | "queueCommand"; readonly session: number }
  | {
      readonly do: "steer";
      readonly session: number;
      readonly clientMessageId?: string;
      readonly expect?: "current" | "other";
      readonly idleBehavior?: "promptRequired" | "startNewTurn";
      /** `link`: with a block that the driver does not take; `slash`: text that the agent may read as a command. */
      readonly form?: "link" | "slash";
    }
  | { readonly do: "revoke"; readonly which: number }
  | { readonly do: "cancel" | "close" | "load" | "agentActs"; readonly session: number }
  | { readonly do: "withdraw"; readonly which: number }
  | { readonly do: "leave" | "agentLeaves" };

export interface Actor {
  readonly receipts: boolean;
  readonly echo: boolean;
  readonly actions: readonly Action[];
  /** Whether its user answers permission requests, or only when all else is over. */
  readonly decides: boolean;
}

export type AgentStep = "say" | "take" | "ask" | "askAside" | "askBriefly" | "write" | "echo" | "hang";

export interface RunScript {
  readonly steps: readonly AgentStep[];
  /** A stop reason, or the code of an error. */
  readonly end: string | number;
  /** What a cancel does to it: it stops at its next step, fails there, goes on to its end, or hangs until all else is over. */
  readonly onCancel: "stops" | "fails" | "finishes" | "lingers";
}

export interface InjectScript {
  readonly verdict: "delivered" | "accepted" | "tooLate" | "unsupported" | "throws" | "never";
  readonly report?: "delivered" | "undelivered";
  readonly reportsFirst?: boolean;
}

export interface Scenario {
  readonly idleBehavior: "promptRequired" | "startNewTurn" | "reject";
  readonly whenBusy: "queue" | "steer" | "reject";
  readonly emulate: "finish" | "interrupt";
  readonly inbox: boolean;
  readonly maxSteers: number;
  readonly driver: readonly InjectScript[] | undefined;
  readonly runs: readonly RunScript[];
  readonly closeFails: boolean;
  /** How many the first client creates. */
  readonly sessions: number;
  readonly actors: readonly Actor[];
}

/** What happens in a world of one kind. */
export interface Flavour {
  readonly actors: number;
  readonly actions: number;
  readonly sessions: number;
  readonly driver: "always" | "sometimes";
  /** Weights of the actions. */
  readonly weights: Partial<Record<Action["do"], number>>;
}

const session = (sessions: number): fc.Arbitrary<number> => fc.nat({ max: sessions - 1 });
const mostly = <T>(usual: T, ...others: readonly T[]): fc.Arbitrary<T> =>
  fc.oneof({ weight: 5, arbitrary: fc.constant(usual) }, { weight: 2, arbitrary: fc.constantFrom(usual, ...others) });

const steer = (sessions: number): fc.Arbitrary<Action> =>
  fc.record({
    do: fc.constant("steer" as const),
    session: session(sessions),
    clientMessageId: mostly<string | undefined>(undefined, "c0", "c1"),
    expect: mostly<"current" | "other" | undefined>(undefined, "current", "other"),
    idleBehavior: mostly<"promptRequired" | "startNewTurn" | undefined>(undefined, "promptRequired", "startNewTurn"),
    form: mostly<"link" | "slash" | undefined>(undefined, "link", "slash"),
  }) as fc.Arbitrary<Action>;

function action({ weights, sessions }: Flavour): fc.Arbitrary<Action> {
  const inSession = (name: Action["do"]): fc.Arbitrary<Action> =>
    session(sessions).map((index) => ({ do: name, session: index }) as Action);
  const all: Record<Action["do"], fc.Arbitrary<Action>> = {
    steer: steer(sessions),
    prompt: inSession("prompt"),
    steerCommand: inSession("steerCommand"),
    queueCommand: inSession("queueCommand"),
    cancel: inSession("cancel"),
    close: inSession("close"),
    load: inSession("load"),
    agentActs: inSession("agentActs"),
    revoke: fc.nat({ max: 3 }).map((which) => ({ do: "revoke", which })),
    withdraw: fc.nat({ max: 2 }).map((which) => ({ do: "withdraw", which })),
    leave: fc.constant({ do: "leave" }),
    agentLeaves: fc.constant({ do: "agentLeaves" }),
  };
  const weighted = Object.entries(weights).map(([name, weight]) => ({
    weight,
    arbitrary: all[name as Action["do"]],
  }));
  return fc.oneof(...weighted);
}

const actor = (flavour: Flavour): fc.Arbitrary<Actor> =>
  fc.record({
    receipts: mostly(true, false),
    echo: fc.boolean(),
    decides: mostly(true, false),
    actions: fc.array(action(flavour), { minLength: 1, maxLength: flavour.actions }),
  });

const run: fc.Arbitrary<RunScript> = fc.record({
  steps: fc.array(
    fc.oneof(
      { weight: 4, arbitrary: fc.constantFrom<AgentStep>("say", "take") },
      { weight: 2, arbitrary: fc.constantFrom<AgentStep>("ask", "askAside", "askBriefly", "write", "echo", "hang") },
    ),
    { maxLength: 4 },
  ),
  end: fc.oneof(
    { weight: 5, arbitrary: fc.constant("end_turn") },
    {
      weight: 3,
      arbitrary: fc.constantFrom<string | number>("max_tokens", "refusal", "cancelled", -32600, -32603, -32000),
    },
  ),
  onCancel: fc.constantFrom("stops", "fails", "finishes", "lingers"),
});

/** An agent that turns every continuation away, as one that is not idle yet does. */
const busyRuns: fc.Arbitrary<RunScript[]> = fc
  .tuple(run, fc.nat({ max: 5 }))
  .map(([first, times]) => [
    { ...first, end: "end_turn" },
    ...Array.from({ length: times }, (): RunScript => ({ steps: [], end: -32600, onCancel: "stops" })),
  ]);

const inject: fc.Arbitrary<InjectScript> = fc.record(
  {
    verdict: fc.oneof(
      { weight: 3, arbitrary: fc.constantFrom("delivered" as const, "accepted" as const) },
      { weight: 2, arbitrary: fc.constantFrom("tooLate" as const, "unsupported" as const, "throws" as const) },
      { weight: 1, arbitrary: fc.constant("never" as const) },
    ),
    report: fc.constantFrom("delivered" as const, "undelivered" as const),
    reportsFirst: fc.boolean(),
  },
  { requiredKeys: ["verdict"] },
);

export function scenario(flavour: Flavour): fc.Arbitrary<Scenario> {
  const driver = fc.array(inject, { minLength: 1, maxLength: 4 });
  return fc.record({
    idleBehavior: mostly<Scenario["idleBehavior"]>("promptRequired", "startNewTurn", "reject"),
    whenBusy: mostly<Scenario["whenBusy"]>("queue", "steer", "reject"),
    emulate: mostly<Scenario["emulate"]>("finish", "interrupt"),
    inbox: fc.boolean(),
    maxSteers: mostly(4_096, 1, 2),
    driver: flavour.driver === "always" ? driver : fc.option(driver, { nil: undefined }),
    runs: fc.oneof({ weight: 6, arbitrary: fc.array(run, { maxLength: 5 }) }, { weight: 1, arbitrary: busyRuns }),
    closeFails: fc.boolean(),
    sessions: fc.constant(flavour.sessions),
    actors: fc.array(actor(flavour), { minLength: flavour.actors, maxLength: flavour.actors }),
  });
}
