import type { ContentBlock, InjectCall, Verdict, WireMessage } from "@acp-steering/core";
import { chooseStrategy, type Strategy } from "../../src/strategy.js";
import type { AgentAnswer, VendorSteeringSession } from "../../src/vendor-steering.js";

export type Json = Record<string, unknown>;
export interface Sent {
  readonly method: string;
  readonly params: Json;
  readonly timeoutMs: number | undefined;
  answer(answer: AgentAnswer): void;
  fail(error: Error): void;
}

/** What an agent of each dialect answers to `initialize`. */
export const INITIALIZED: Readonly<Record<string, Json>> = {
  native: { _meta: { steering: true } },
  goose: { agentInfo: { name: "goose" } },
  kimchi: { agentCapabilities: { _meta: { "kimchi.dev": { steering: true } } } },
  reasonix: {
    agentCapabilities: { _meta: { "reasonix.io": { sessionSteer: { method: "_reasonix.io/session/steer" } } } },
  },
  minimax: { _meta: { "minimax-code/extensions": { methods: ["mcode/session/steer"] } } },
  poolside: { agentCapabilities: { _meta: { "poolside/session_steer": true } } },
  nooa: { agentCapabilities: { _meta: { "dev.nooa/inject": { steer: {} } } } },
  kiro: { agentInfo: { name: "Kiro CLI" } },
  opencrabs: { agentInfo: { name: "opencrabs" } },
  command: { agentInfo: { name: "hermes-agent" } },
  prompt: {},
};
const ON_REQUEST: Readonly<Record<string, Strategy>> = { kiro: "native", opencrabs: "native", prompt: "prompt" };

/** An agent of which every answer is the test's. */
export class ScriptedAgent {
  readonly sent: Sent[] = [];
  readonly notified: { readonly method: string; readonly params: unknown }[] = [];
  readonly session: VendorSteeringSession;

  constructor(dialect: string) {
    const choice = chooseStrategy(INITIALIZED[dialect], ON_REQUEST[dialect] ?? "auto");
    if (!("vendor" in choice) || !choice.vendor) throw new Error(`${dialect} is not known`);
    this.session = choice.vendor.connect({
      request: (method, params, timeoutMs) =>
        new Promise((resolve, reject) => {
          this.sent.push({ method, params: params as Json, timeoutMs, answer: resolve, fail: reject });
        }),
      notify: (method, params) => void this.notified.push({ method, params }),
    });
  }

  get last(): Sent {
    const last = this.sent.at(-1);
    if (!last) throw new Error("nothing was sent");
    return last;
  }

  /** A line of the agent; whether it was meant for the proxy alone. */
  says(message: Omit<WireMessage, "jsonrpc">): boolean {
    const line = JSON.stringify(message);
    const watches = (this.session.watches ?? []).filter(({ needle }) => line.includes(needle));
    return watches.map((watch) => watch.see({ jsonrpc: "2.0", ...message })).includes(true);
  }

  updates(update: Json, sessionId = "s1"): boolean {
    return this.says({ method: "session/update", params: { sessionId, update } });
  }
}

export interface Steered {
  readonly call: InjectCall;
  readonly verdict: Promise<Verdict>;
  readonly reports: readonly string[];
  abort(): void;
}

let steers = 0;

/** Hands a steer to the agent's dialect. */
export function steer(agent: ScriptedAgent, text: string | readonly ContentBlock[] = "look at b.txt"): Steered {
  const reports: string[] = [];
  const abort = new AbortController();
  steers += 1;
  const call: InjectCall = {
    sessionId: "s1",
    turnId: "t1",
    messageId: `m${steers}`,
    prompt: typeof text === "string" ? [{ type: "text", text }] : text,
    signal: abort.signal,
    delivered: () => void reports.push("delivered"),
    undelivered: () => void reports.push("undelivered"),
  };
  return { call, reports, verdict: agent.session.steer(call), abort: () => abort.abort() };
}

/** The verdict on a steer that is answered so. */
export async function answered(dialect: string, answer: AgentAnswer): Promise<Verdict> {
  const agent = new ScriptedAgent(dialect);
  if (dialect === "goose") agent.updates({ _meta: { goose: { activeRunId: "r1" } } });
  const { verdict } = steer(agent);
  await settled();
  agent.last.answer(answer);
  return verdict;
}

/** Everything that is due has happened. */
export const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
export const error = (code: number, data?: unknown): AgentAnswer => ({ error: { code, message: "no", data } });
