import { type JsonRecord, recordOf } from "@acp-steering/kit/adapter";
import type { VendorSteering } from "./vendor-steering.js";
import { concurrentPrompt } from "./vendors/concurrent-prompt.js";
import { agentName, type Dialect } from "./vendors/dialect.js";
import { goose } from "./vendors/goose.js";
import { kimchi } from "./vendors/kimchi.js";
import { kiro } from "./vendors/kiro.js";
import { minimax } from "./vendors/minimax.js";
import { nooa } from "./vendors/nooa.js";
import { opencrabs } from "./vendors/opencrabs.js";
import { poolside } from "./vendors/poolside.js";
import { reasonix } from "./vendors/reasonix.js";
import { keepsTheContract, sessionSteering } from "./vendors/session-steering.js";
import { slashSteer } from "./vendors/slash-steer.js";

/**
 * How steers are to reach an agent.
 *
 * - `auto`: the best that it says it has, else `finish`.
 * - `native`: a method of its own, `_session/steering` or a vendor's.
 * - `command`: `/steer` as a prompt while another one runs.
 * - `prompt`: a second prompt while one runs.
 * - `interrupt`: the run is cancelled and continued with the steer and the task restated.
 * - `finish`: the turn goes on with the steer when the run has ended.
 */
export type Strategy = "auto" | "native" | "command" | "prompt" | "interrupt" | "finish";

export const STRATEGIES: readonly Strategy[] = ["auto", "native", "command", "prompt", "interrupt", "finish"];

/** What the layer in front of an agent does with steers. */
export interface Choice {
  /** As it stands in logs, such as `goose` or `finish`. */
  readonly name: string;
  /** How the agent is steered by its own means. */
  readonly vendor?: VendorSteering;
  /** How it is steered without. */
  readonly emulate?: "finish" | "interrupt";
  /** The agent keeps the whole contract, nothing is added. */
  readonly passThrough?: true;
}

/** What an agent says of itself, the general method first; who offers two is taken at the one that does more. */
const ADVERTISED: readonly Dialect[] = [sessionSteering, goose, kimchi, reasonix, minimax, nooa, poolside];
/** Known by nothing but the agent's name, so only for those who ask for it. */
const BY_NAME: readonly Dialect[] = [kiro, opencrabs];

const vendorOf = ({ name, delivery, boundary, content, connect }: Dialect, result: JsonRecord): VendorSteering => ({
  name,
  supports: { content: content(result), boundary, delivery },
  connect,
});

const choiceOf = (dialect: Dialect, result: JsonRecord): Choice => ({
  name: dialect.name,
  vendor: vendorOf(dialect, result),
});

const passThrough: Choice = { name: "pass-through", passThrough: true };

function native(result: JsonRecord, dialects: readonly Dialect[]): Choice | undefined {
  if (keepsTheContract(result)) return passThrough;
  const dialect = dialects.find(({ recognises }) => recognises(result));
  return dialect && choiceOf(dialect, result);
}

const emulation = (name: "finish" | "interrupt"): Choice => ({ name, emulate: name });

/**
 * Chooses how steers reach an agent.
 *
 * @param initializeResult what the agent answered to `initialize`
 * @param wanted what the user asked for
 * @returns what the layer does, or why the agent cannot be steered in the wanted way and what to do about it
 * @example
 * ```ts
 * const choice = chooseStrategy({ _meta: { steering: { supported: true } } }, "auto");
 * // { name: "native", vendor: { … } }
 * ```
 */
export function chooseStrategy(initializeResult: unknown, wanted: Strategy): Choice | { readonly problem: string } {
  const result = recordOf(initializeResult);
  switch (wanted) {
    case "auto":
      return native(result, [...ADVERTISED, slashSteer]) ?? emulation("finish");
    case "native":
      return native(result, [...ADVERTISED, ...BY_NAME]) ?? { problem: noneOfItsOwn(result) };
    case "command":
      return choiceOf(slashSteer, result);
    case "prompt":
      return choiceOf(concurrentPrompt, result);
    case "interrupt":
    case "finish":
      return emulation(wanted);
  }
}

function noneOfItsOwn(result: JsonRecord): string {
  const name = agentName(result);
  const agent = typeof name === "string" ? `The agent "${name}"` : "The agent";
  const known = [...ADVERTISED, ...BY_NAME].map((dialect) => dialect.name).join(", ");
  const hint = slashSteer.recognises(result) ? " It takes /steer in a prompt: --strategy command." : "";
  return `${agent} offers no steering of its own that is known here (${known}).${hint} Use --strategy auto, or finish, which every agent takes.`;
}
