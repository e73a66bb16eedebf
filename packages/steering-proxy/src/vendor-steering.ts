import type { InjectCall, Verdict, WireMessage } from "@acp-steering/core";

/** What an agent answered to a request of ours. */
export type AgentAnswer = Pick<WireMessage, "result" | "error">;

/** The agent's process, as a vendor's steering needs it: requests of our own, which the client never sees. */
export interface AgentCalls {
  /**
   * Sends a request of our own and resolves with the agent's answer. Rejects when the agent is gone, and when it does not
   * answer within the time that the proxy gives it; what became of the request is unknown then.
   */
  request(method: string, params: unknown): Promise<AgentAnswer>;
}

/** Lines of the agent that a vendor's steering wants to see, beside its answers. */
export interface Watch {
  /** A text that stands in each of these lines; the others are not parsed for it. */
  readonly needle: string;
  see(message: WireMessage): void;
}

/** One agent process that is steered by a method of its own. */
export interface VendorSteeringSession {
  /** What a steer becomes at the agent. What throws or cannot be read counts as handed over: it is never sent again. */
  steer(call: InjectCall): Promise<Verdict>;
  readonly watch?: Watch;
}

/** A method that an agent has for steering and that is not the whole contract: data and small functions, in a file of its own. */
export interface VendorSteering {
  /** As it stands in logs and in the documentation, such as `goose`. */
  readonly name: string;
  readonly supports: {
    readonly content: readonly ("text" | "image" | "audio" | "resource_link" | "resource")[];
    readonly boundary: "now" | "afterTool" | "nextStep";
  };
  /** Whether the agent's `initialize` result says that it has it. */
  isAdvertised(initializeResult: unknown): boolean;
  connect(agent: AgentCalls): VendorSteeringSession;
}
