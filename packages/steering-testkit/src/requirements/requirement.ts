/**
 * How much hangs on a requirement.
 *
 * - `must`: without it a host cannot rely on the agent's steering.
 * - `should`: the rest of the contract, each part only where the agent advertises it.
 * - `informs`: a figure or a habit; nothing to pass or fail.
 */
export type Tier = "must" | "should" | "informs";

/**
 * What has to be there before a requirement can be judged; where it is missing the requirement does not apply.
 *
 * - `model`: the suite sees what arrives behind the agent and decides what is answered.
 * - `tool`: the agent offers its model a shell tool.
 * - `permission`: the agent asks the client before it runs that tool.
 * - `receipts`, `revoke`: the agent advertises them.
 * - `idlePolicy`: the agent advertises `idleBehavior`.
 * - `names`: the results of the agent carry `_meta.steering.messageId`.
 * - `close`: the agent advertises `session/close`.
 * - `commands`: the agent announces `/steer`.
 * - `driver`: the suite knows what the agent's driver says of its vendor (`supports`).
 */
export type Need =
  | "model"
  | "tool"
  | "permission"
  | "receipts"
  | "revoke"
  | "idlePolicy"
  | "names"
  | "close"
  | "commands"
  | "driver";

/** One thing that a steerable agent has to do, as data. */
export interface Requirement {
  readonly id: string;
  /** One sentence, true of an agent that fulfils it. */
  readonly holds: string;
  /** A section of docs/contract.md, and the public reports that show what happens without it (docs/cases.md). */
  readonly source: string;
  readonly tier: Tier;
  readonly needs: readonly Need[];
}
