import type { RpcError, WireMessage } from "@acp-steering/core";
import { META_KEY, METHOD } from "@acp-steering/core/protocol";
import { isRecord } from "@acp-steering/kit/adapter";
import type { Choice } from "./strategy.js";

/** What the client sends before the agent has answered `initialize`. */
export interface IntroductionOutlets {
  toAgent(message: WireMessage): void;
  toClient(message: WireMessage): void;
  /** The client asked: the agent has so long to answer. */
  asked(): void;
  /** It answered: what the client sent since is `held`. */
  met(request: WireMessage, answer: WireMessage, held: readonly WireMessage[]): void;
}

/**
 * The time before the layer is there. What it is depends on what the agent answers to `initialize`; so that request goes to
 * the agent as it is, what the client sends behind it waits, and what the agent says before its answer goes to the client.
 */
export class Introduction {
  readonly #outlets: IntroductionOutlets;
  #request: WireMessage | undefined;
  /** A request that was answered in place of the agent. */
  #refused: WireMessage | undefined;
  #held: WireMessage[] = [];

  constructor(outlets: IntroductionOutlets) {
    this.#outlets = outlets;
  }

  /** The client's `initialize`, while the agent owes the answer. */
  get open(): WireMessage | undefined {
    return this.#request;
  }

  fromClient(message: WireMessage): void {
    if (this.#request && message.method !== undefined) return void this.#held.push(message);
    if (message.method === METHOD.initialize && message.id !== undefined) {
      this.#request = message;
      this.#outlets.asked();
    }
    this.#outlets.toAgent(message);
  }

  fromAgent(message: WireMessage): void {
    const request = this.#request;
    if (message.method === undefined && this.#refused?.id === message.id) return;
    if (!request || message.method !== undefined || message.id !== request.id) return this.#outlets.toClient(message);
    const held = this.#takeHeld();
    if (isRecord(message.result)) return this.#outlets.met(request, message, held);
    this.#outlets.toClient(message);
    for (const waiting of held) this.fromClient(waiting);
  }

  /** Answers the client in place of the agent, whose own answer does not pass any more; also what was held. */
  refuse(request: WireMessage, error: RpcError, held: readonly WireMessage[] = this.#takeHeld()): void {
    this.#refused = request;
    for (const { id } of [request, ...held])
      if (id !== undefined) this.#outlets.toClient({ jsonrpc: "2.0", id, error });
  }

  #takeHeld(): readonly WireMessage[] {
    const held = this.#held;
    this.#request = undefined;
    this.#held = [];
    return held;
  }
}

/**
 * The agent's answer as the layer is to see it. A steering of the agent's own is taken out where it is not the one that is
 * used: the layer would step back from it.
 */
export function answerForLayer(answer: WireMessage, { vendor, passThrough }: Choice): WireMessage {
  const result = isRecord(answer.result) ? answer.result : {};
  const meta = result["_meta"];
  if (vendor || passThrough || !isRecord(meta) || !(META_KEY in meta)) return answer;
  const { [META_KEY]: _own, ...others } = meta;
  return { ...answer, result: { ...result, _meta: others } };
}
