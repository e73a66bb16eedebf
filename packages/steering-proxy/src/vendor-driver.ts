import type { SteeringDriver, Verdict, WireMessage } from "@acp-steering/core";
import { recordOf } from "@acp-steering/kit/adapter";
import type { AgentCalls, VendorSteering, VendorSteeringSession, Watch } from "./vendor-steering.js";

/** A vendor's own steering, as the layer's driver, over all processes of the agent. */
export class VendorDriver {
  readonly #vendor: VendorSteering;
  readonly #agent: AgentCalls;
  #session: VendorSteeringSession | undefined;

  constructor(vendor: VendorSteering, agent: AgentCalls) {
    this.#vendor = vendor;
    this.#agent = agent;
    this.connect();
  }

  /** A process of the agent is there. */
  connect(): void {
    this.#session = this.#vendor.connect(this.#agent);
  }

  /** It is gone: what nobody has can still go into a continuation. */
  disconnect(): void {
    this.#session = undefined;
  }

  get driver(): SteeringDriver {
    return {
      spec: "steering-driver-1",
      supports: this.#vendor.supports,
      inject: async (call): Promise<Verdict> => {
        const session = this.#session;
        if (!session) return "tooLate";
        try {
          return await session.steer(call);
        } catch {
          // Nobody knows what became of it: sent again, it might be there twice.
          return "accepted";
        }
      },
    };
  }

  /** A prompt goes to the agent. */
  runBegins({ params }: WireMessage): void {
    this.#session?.runBegins?.(recordOf(params)["sessionId"]);
  }

  get needles(): readonly string[] {
    return this.#watches.map(({ needle }) => needle);
  }

  /** @returns whether a message of the agent was meant for the vendor's steering alone */
  see(message: WireMessage, line: Buffer): boolean {
    let isOurs = false;
    for (const watch of this.#watches) if (line.includes(watch.needle)) isOurs = watch.see(message) || isOurs;
    return isOurs;
  }

  get #watches(): readonly Watch[] {
    return this.#session?.watches ?? [];
  }
}
