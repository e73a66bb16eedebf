import type { WireMessage } from "@acp-steering/core";
import { METHOD } from "@acp-steering/core/protocol";

type Id = WireMessage["id"];

const paramsOf = (message: WireMessage): { readonly requestId?: Id } => (message.params ?? {}) as { requestId?: Id };

/**
 * The requests of one agent process at the client. The ids of the first process stay as they are. Those of a later one
 * are ours: it counts from the beginning again, and the client may still answer what the one before it asked.
 */
export class AgentRequests {
  readonly #prefix: string | undefined;
  /** The agent's ids, by those that the client knows. */
  readonly #open = new Map<Id, Id>();
  #count = 0;

  constructor(prefix?: string) {
    this.#prefix = prefix;
  }

  /** @returns the request as the client is to see it */
  asked(request: WireMessage): WireMessage {
    this.#count += 1;
    const id = this.#prefix === undefined ? request.id : `${this.#prefix}${this.#count}`;
    this.#open.set(id, request.id);
    return id === request.id ? request : { ...request, id: id as string };
  }

  /** @returns the client's answer as the agent is to see it; nothing where it is not this process that asked */
  answered(answer: WireMessage): WireMessage | undefined {
    const { id } = answer;
    if (!this.#open.has(id)) return this.#prefix === undefined || id === null ? answer : undefined;
    const known = this.#open.get(id);
    this.#open.delete(id);
    return known === id ? answer : { ...answer, id: known as string };
  }

  /** @returns the agent's `$/cancel_request` as the client is to see it */
  withdrawn(notification: WireMessage): WireMessage {
    if (this.#prefix === undefined || notification.method !== METHOD.cancelRequest) return notification;
    const { requestId } = paramsOf(notification);
    const [id] = [...this.#open].find(([, known]) => known === requestId) ?? [];
    return id === undefined ? notification : { ...notification, params: { ...paramsOf(notification), requestId: id } };
  }

  /** Ids of what the client has not answered, as it knows them. */
  get open(): readonly Id[] {
    return [...this.#open.keys()];
  }
}
