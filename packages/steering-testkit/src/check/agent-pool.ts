import type { Wishes } from "../cases/case.js";
import type { WireClient } from "../wire-client.js";
import { Agent, type AgentSetup } from "./agent.js";
import { CheckError } from "./check-options.js";

/** Sessions that an agent cannot close stay: after so many it gets a new process. */
const SESSIONS_WITHOUT_CLOSE = 12;
/** What a process has said so far is kept in memory: after so many messages it gets a new one. */
const MESSAGES = 20_000;

/** The agent processes of a check: one at a time for cases, and none once it has ended. */
export class AgentPool {
  readonly #setup: AgentSetup;
  readonly #clients = new Set<WireClient>();
  readonly #starting = new Set<Promise<unknown>>();
  #shared: Agent | undefined;
  #isOver = false;

  constructor(setup: AgentSetup) {
    this.#setup = setup;
  }

  /**
   * An agent for one case: the one of the case before, where that is still as it should be and told the same.
   *
   * @throws CheckError
   */
  async acquire(wishes: Wishes, fresh: boolean): Promise<Agent> {
    const shared = this.#shared;
    if (shared !== undefined && !fresh && this.#isFit(shared) && isSame(shared.wishes, wishes)) {
      return shared;
    }
    await this.retire();
    this.#shared = await this.#start(wishes);
    return this.#shared;
  }

  /** The agent is done with; the next case gets a new one. */
  async retire(): Promise<void> {
    const retired = this.#shared;
    this.#shared = undefined;
    // An agent that still works on something has no reason to end by itself.
    if (retired !== undefined) await (this.#isFit(retired) ? retired.client.close() : retired.client.stop());
  }

  /** Ends every process, also one that is just being started. */
  async end(): Promise<void> {
    this.#isOver = true;
    await Promise.allSettled(this.#starting);
    await Promise.all([...this.#clients].map((client) => client.stop()));
  }

  async #start(wishes: Wishes): Promise<Agent> {
    const client = await this.#spawn();
    try {
      return await Agent.initialize(client, wishes, this.#setup);
    } catch (error) {
      await client.stop();
      throw error;
    }
  }

  async #spawn(): Promise<WireClient> {
    if (this.#isOver) throw new CheckError("interrupted", "The check is over.");
    const spawning = Agent.spawn(this.#setup);
    this.#starting.add(spawning);
    try {
      const client = await spawning;
      this.#clients.add(client);
      void client.exited.then(() => this.#clients.delete(client));
      if (this.#isOver) await client.stop();
      return client;
    } finally {
      this.#starting.delete(spawning);
    }
  }

  #isFit({ client, canClose, sessions }: Agent): boolean {
    const hasRoom = client.log.length < MESSAGES && (canClose || sessions < SESSIONS_WITHOUT_CLOSE);
    return client.ended === undefined && client.unanswered.length === 0 && hasRoom;
  }
}

const isSame = (one: Wishes, other: Wishes): boolean =>
  Boolean(one.receipts) === Boolean(other.receipts) && Boolean(one.echo) === Boolean(other.echo);
