import type { Wishes } from "../cases/case.js";
import { createStage, type OwnedStage } from "../cases/create-stage.js";
import { WireClient } from "../wire-client.js";
import type { MakeRig, Rig } from "./rig.js";

/** How long nothing may happen before a case is given up, in milliseconds: no measure of the agent, only an end of hanging. */
const PATIENCE_MS = 10_000;
/** How many rounds of the event loop without anything new are quiet. */
const QUIET_ROUNDS = 20;

/** One agent in this process with one session, for one case or for several in a row. */
export class Place {
  static async open(makeRig: MakeRig, wishes: Wishes): Promise<Place> {
    const rig = await makeRig();
    const client = WireClient.connect(rig.agent);
    try {
      const initialized = await client.initialize({ _meta: { steering: wishes } });
      return new Place(rig, client, initialized, await client.newSession(rig.cwd));
    } catch (error) {
      await client.close();
      await rig.close?.();
      throw error;
    }
  }

  readonly #rig: Rig;
  readonly #client: WireClient;
  readonly #initialized: Record<string, unknown>;
  readonly #sessionId: string;

  private constructor(rig: Rig, client: WireClient, initialized: Record<string, unknown>, sessionId: string) {
    this.#rig = rig;
    this.#client = client;
    this.#initialized = initialized;
    this.#sessionId = sessionId;
  }

  /** Plays on a stage of its own; a wait that sees no sign of life for ten seconds is given up. */
  async play<Value>(perform: (stage: OwnedStage) => Promise<Value>): Promise<Value> {
    const { activity = () => 0, behind, cwd, supports, forget } = this.#rig;
    const measure = (): number => this.#client.log.length + activity();
    const stage = createStage({
      client: this.#client,
      behind,
      cwd,
      sessionId: this.#sessionId,
      initialized: this.#initialized,
      boundary: supports?.boundary,
      quiet: () => untilStill(measure),
    });
    const watchdog = watch(measure, () => stage.giveUp());
    try {
      return await perform(stage);
    } finally {
      clearInterval(watchdog);
      stage.giveUp();
      forget?.();
    }
  }

  async close(): Promise<void> {
    await this.#client.close();
    await this.#rig.close?.();
  }
}

/** Rounds of the event loop, timers included, until some in a row bring nothing new. */
async function untilStill(measure: () => number): Promise<void> {
  let last = measure();
  for (let still = 0; still < QUIET_ROUNDS; still += 1) {
    await round();
    const now = measure();
    if (now !== last) still = 0;
    last = now;
  }
}

const round = (): Promise<void> => new Promise((resolve) => setTimeout(() => setImmediate(resolve), 0));

function watch(measure: () => number, giveUp: () => void): NodeJS.Timeout {
  let last = -1;
  return setInterval(() => {
    const now = measure();
    if (now === last) giveUp();
    last = now;
  }, PATIENCE_MS);
}
