import type { SteeringDriver } from "@acp-steering/core";
import type { Behind } from "../cases/stage.js";
import type { WireClient } from "../wire-client.js";

/** An agent under test, what stands behind it, and how both end. */
export interface Rig {
  /** A steerable, or anything else that `connect(stream)` makes an ACP agent. */
  readonly agent: Parameters<typeof WireClient.connect>[0];
  /** What the driver says of its vendor; absent where the agent has none. */
  readonly supports?: SteeringDriver["supports"] | undefined;
  readonly behind: Behind;
  /** The folder in which the sessions work; the cases leave files in it. */
  readonly cwd: string;
  /** A number that changes with whatever happens behind the agent, so that quiet there can be told. */
  activity?(): number;
  /** A case is over: what it left unanswered behind the agent is answered or dropped. */
  forget?(): void;
  close?(): Promise<unknown>;
}

/** Makes a rig; a new one wherever the agent of the case before cannot be used again. */
export type MakeRig = () => Rig | Promise<Rig>;
