import fc from "fast-check";
import { expect, test } from "vitest";
import { type PlayedWire, plainWire, relayWire } from "./two-wires.js";

const SESSIONS = ["one", "zwei-ü"];
const KINDS = ["agent_message_chunk", "tool_call", "plan", "user_message_chunk", "current_mode_update", "_vendor"];
const SPACES = ["", " ", "\r"];

/** One line of the agent, or what has to be found out when it is written. */
type AgentLine =
  | {
      readonly does: "update";
      readonly session: string;
      readonly kind: string;
      readonly form: number;
      readonly text: string;
    }
  | { readonly does: "announce"; readonly session: string }
  | { readonly does: "ask"; readonly session: string; readonly id: number }
  | { readonly does: "tell" }
  | { readonly does: "answer"; readonly stopReason: string };

type Move =
  | { readonly by: "agent"; readonly lines: readonly AgentLine[]; readonly heldBack: number; readonly cut: number }
  | {
      readonly by: "client";
      readonly does: "prompt" | "steer" | "cancel" | "close" | "allow" | "tell";
      readonly session: string;
    };

/** Mostly the first: what passes unread has to be seen twice. */
const mostlyFirst = <Value>(values: readonly Value[]): fc.Arbitrary<Value> =>
  fc.oneof({ weight: 4, arbitrary: fc.constant(values[0] as Value) }, fc.constantFrom(...values));

const session = mostlyFirst(SESSIONS);
const text = fc.oneof(
  fc.string({ unit: "grapheme", maxLength: 12 }),
  fc.constantFrom('"method":"session/prompt","id":1', "steer 1", "}\\n{", "\u2028", "ü😀"),
);
const agentLine: fc.Arbitrary<AgentLine> = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({
      does: fc.constant("update" as const),
      session,
      kind: mostlyFirst(KINDS),
      form: mostlyFirst([0, 1, 2, 3]),
      text,
    }),
  },
  { weight: 1, arbitrary: fc.record({ does: fc.constant("announce" as const), session }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constant("ask" as const), session, id: fc.nat(3) }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constant("tell" as const) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      does: fc.constant("answer" as const),
      stopReason: fc.constantFrom("end_turn", "cancelled", "refusal"),
    }),
  },
);
const move: fc.Arbitrary<Move> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      by: fc.constant("agent" as const),
      lines: fc.array(agentLine, { minLength: 1, maxLength: 10, size: "max" }),
      heldBack: fc.oneof(fc.constant(0), fc.nat(150)),
      cut: fc.nat(1_000),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      by: fc.constant("client" as const),
      does: fc.constantFrom("prompt", "prompt", "steer", "steer", "cancel", "close", "allow", "tell"),
      session,
    }),
  },
);

/** One side of the comparison: its wire, what it owes, and what the agent has begun to write. */
class Side {
  readonly #wire: PlayedWire;
  #unwritten: Buffer = Buffer.alloc(0);
  #answered = new Set<string>();
  #count = 0;

  constructor(wire: PlayedWire) {
    this.#wire = wire;
  }

  /** What the client was shown, and the agent without repeated cancels, which are a matter of time; ids of the layer by number. */
  get seen(): { readonly toClient: readonly string[]; readonly toAgent: readonly string[] } {
    const { toClient, toAgent } = this.#wire;
    const names = new Map<string, string>();
    const named = (line: string): string =>
      line.replaceAll(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, (id) => {
        names.set(id, names.get(id) ?? `id-${names.size}`);
        return names.get(id) as string;
      });
    return { toClient: toClient.map(named), toAgent: toAgent.filter((line) => !line.includes("/cancel")).map(named) };
  }

  play(move: Move): void {
    if (move.by === "client") return this.#clientDoes(move);
    const lines = move.lines.map((line) => this.#textOf(line));
    const bytes = Buffer.concat([this.#unwritten, ...lines.map((line) => Buffer.from(`${line}\n`))]);
    const [cut, end] = [Math.min(move.cut, bytes.length), Math.max(0, bytes.length - move.heldBack)];
    for (const chunk of [bytes.subarray(0, Math.min(cut, end)), bytes.subarray(Math.min(cut, end), end)])
      if (chunk.length > 0) this.#wire.fromAgent(Buffer.from(chunk));
    this.#unwritten = bytes.subarray(end);
  }

  #clientDoes({ does, session: sessionId }: Extract<Move, { by: "client" }>): void {
    this.#count += 1;
    const id = this.#count + 100;
    const send = (message: object): void => this.#wire.fromClient(JSON.stringify({ jsonrpc: "2.0", ...message }));
    const prompt = [{ type: "text", text: `${does} ${this.#count}` }];
    if (does === "prompt") send({ id, method: "session/prompt", params: { sessionId, prompt } });
    if (does === "steer")
      send({ id, method: "_session/steering", params: { sessionId, prompt: [{ type: "text", text: "steer 1" }] } });
    if (does === "cancel") send({ method: "session/cancel", params: { sessionId } });
    if (does === "close") send({ id, method: "session/close", params: { sessionId } });
    if (does === "allow") send({ id: this.#count % 4, result: { outcome: { outcome: "selected", optionId: "x" } } });
    if (does === "tell") this.#wire.fromClient(`{"jsonrpc":"2.0","method":"_client/tells","params":{"n":1.0}}`);
  }

  #textOf(line: AgentLine): string {
    if (line.does === "answer") return this.#answer(line.stopReason);
    if (line.does === "tell") return '{"jsonrpc": "2.0", "method": "_agent/tells", "params": 9007199254740993}';
    const sessionId = line.session;
    if (line.does === "ask")
      return JSON.stringify({
        jsonrpc: "2.0",
        id: line.id,
        method: "session/request_permission",
        params: { sessionId },
      });
    const method = "session/update";
    if (line.does === "announce") {
      const update = { sessionUpdate: "available_commands_update", availableCommands: [{ name: "mine" }] };
      return JSON.stringify({ jsonrpc: "2.0", method, params: { sessionId, update } });
    }
    const { kind, form } = line;
    const space = SPACES[form] ?? "";
    const content = `{"type":"text","text":${JSON.stringify(line.text)}}`;
    if (form === 3)
      return `{"method":"${method}","params":{"update":{"content":${content},"sessionUpdate":"${kind}"},"sessionId":"${sessionId}"},"jsonrpc":"2.0"}`;
    return `{"jsonrpc":"2.0","method":"${method}","params":{"sessionId":"${sessionId}","update":{"sessionUpdate":${form === 1 ? space : ""}"${kind}","content":${content},"n":1.0}}}${space}`;
  }

  /** The answer to the oldest request that has none; a line that says nothing new where there is none. */
  #answer(stopReason: string): string {
    const requests = this.#wire.toAgent.map((line) => JSON.parse(line) as { id?: unknown; method?: string });
    const owed = requests.find(({ id, method }) => method && id !== undefined && !this.#answered.has(String(id)));
    if (!owed) return '{"jsonrpc":"2.0","method":"_agent/idle"}';
    this.#answered.add(String(owed.id));
    return JSON.stringify({ jsonrpc: "2.0", id: owed.id, result: { stopReason } });
  }
}

/** What both wires have to do of themselves is done: timers of 0 ms and whatever they bring. */
async function settle(): Promise<void> {
  for (let round = 0; round < 3; round += 1) await new Promise((resolve) => setTimeout(() => setImmediate(resolve), 0));
}

async function introduce(wire: PlayedWire): Promise<void> {
  const capabilities = { _meta: { steering: { receipts: true, echo: true } } };
  const exchange = async (id: string, method: string, params: object, result: object): Promise<void> => {
    wire.fromClient(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
    await settle();
    wire.fromAgent(Buffer.from(`${JSON.stringify({ jsonrpc: "2.0", id, result })}\n`));
    await settle();
  };
  await exchange("i", "initialize", { protocolVersion: 1, clientCapabilities: capabilities }, { protocolVersion: 1 });
  for (const sessionId of SESSIONS) await exchange(`n-${sessionId}`, "session/new", { cwd: "." }, { sessionId });
}

test("however lines are cut and whatever happens between them, the wire is the one of a layer that parses everything", async () => {
  let spans = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(move, { minLength: 5, maxLength: 25, size: "max" }), async (moves) => {
      const [relay, plain] = [await relayWire(), plainWire()];
      await introduce(relay);
      await introduce(plain);
      const sides = [new Side(relay), new Side(plain)] as const;
      for (const next of moves) {
        for (const side of sides) side.play(next);
        await settle();
      }
      spans += relay.spans();
      expect(sides[0].seen).toEqual(sides[1].seen);
    }),
    { numRuns: 120 },
  );
  // Or it would have shown nothing.
  expect(spans).toBeGreaterThan(200);
}, 180_000);

test("G6 cancel: what comes directly behind the client's cancel does not pass, although the line before it did", async () => {
  const wire = await relayWire();
  await introduce(wire);
  wire.fromClient(
    '{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"sessionId":"one","prompt":[{"type":"text","text":"x"}]}}',
  );
  await settle();
  const update = (n: number): string =>
    `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"one","update":{"sessionUpdate":"plan","n":${n}}}}`;
  for (const n of [1, 2, 3]) wire.fromAgent(Buffer.from(`${update(n)}\n`));
  expect(wire.spans()).toBe(2);
  wire.fromClient('{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"one"}}');
  // No timer has fired since: the agent itself has not heard of the cancel.
  for (let turn = 0; turn < 20; turn += 1) await undefined;
  wire.fromAgent(Buffer.from(`${update(4)}\n`));
  await settle();
  expect(wire.toClient).toContain(update(3));
  expect(wire.toClient).not.toContain(update(4));
});
