import type { InjectCall, SteeringDriver, Verdict, WireMessage } from "@acp-steering/core";

/** What an agent answered to a request of ours. */
export type AgentAnswer = Pick<WireMessage, "result" | "error">;

/** The agent's process, as a vendor's steering needs it: messages of our own, which the client never sees. */
export interface AgentCalls {
  /**
   * Sends a request of our own and resolves with the agent's answer.
   *
   * @param timeoutMs how long the answer may take, in milliseconds; default: what the proxy gives such a request.
   *   `Infinity`: as long as the agent is there
   * @throws when the agent is gone, and when it does not answer in time; what became of the request is unknown then
   */
  request(method: string, params: unknown, timeoutMs?: number): Promise<AgentAnswer>;
  notify(method: string, params: unknown): void;
}

/** Lines of the agent that a vendor's steering wants to see, beside its answers. */
export interface Watch {
  /** A text that stands in each of these lines; the others are not parsed for it. */
  readonly needle: string;
  /**
   * Called for each message of the agent whose line has the needle, before the layer gets it.
   *
   * @returns whether it was meant for us alone: then it goes no further
   */
  see(message: WireMessage): boolean;
}

/** One agent process that is steered by a method of its own. */
export interface VendorSteeringSession {
  /**
   * What becomes of a steer. What throws counts as handed over: it is never sent again. Reports (`call.delivered()`,
   * `call.undelivered()`) may come at any time, also before the verdict.
   */
  steer(call: InjectCall): Promise<Verdict>;
  /** A prompt of the client, or a continuation, is on its way to the agent. */
  runBegins?(sessionId: unknown): void;
  readonly watches?: readonly Watch[];
}

/** A method that an agent has for steering and that is not the whole contract: data and small functions, in a file of its own. */
export interface VendorSteering {
  /** As it stands in logs and in the documentation, such as `goose`. */
  readonly name: string;
  readonly supports: SteeringDriver["supports"];
  /** Called once for each process of the agent. */
  connect(agent: AgentCalls): VendorSteeringSession;
}
