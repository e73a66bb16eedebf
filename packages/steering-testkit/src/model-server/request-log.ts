import type { Reply } from "./reply.js";
import type { ModelRequest } from "./request.js";
import type { WaitingRoom } from "./waiting-room.js";

type Recorded = { -readonly [Key in keyof ModelRequest]: ModelRequest[Key] };

interface Settled {
  readonly request: Recorded;
  readonly size: number;
}

/** A request as it arrives, with the size of its body in bytes. */
export type Arrived = Omit<ModelRequest, "index" | "at" | "aborted" | "reply" | "forgotten"> & {
  readonly size: number;
};

/** Every request since the last reset, and how its answer ended. */
export class RequestLog {
  readonly #room: WaitingRoom;
  readonly #maximumBytes: number;
  readonly #sizes = new WeakMap<ModelRequest, number>();
  readonly #settled = new WeakSet<ModelRequest>();
  /** What may be forgotten, the first to be forgotten first. */
  #rememberedAndSettled: Settled[] = [];
  #bytes = 0;
  #requests: Recorded[] = [];

  /** @param maximumBytes of bodies; beyond it the requests that were settled first lose their content */
  constructor(room: WaitingRoom, maximumBytes: number) {
    this.#room = room;
    this.#maximumBytes = maximumBytes;
  }

  get requests(): readonly ModelRequest[] {
    return this.#requests;
  }

  add({ size, ...arrived }: Arrived): ModelRequest {
    const request: Recorded = { index: this.#requests.length, at: Date.now(), ...arrived, aborted: false };
    this.#requests.push(request);
    this.#sizes.set(request, size);
    this.#bytes += size;
    this.#forgetTheOldest();
    this.#room.changed();
    return request;
  }

  decide(request: ModelRequest, reply: Reply): void {
    (request as Recorded).reply = reply;
  }

  settle(request: ModelRequest, end: { readonly aborted: boolean }): void {
    const recorded = request as Recorded;
    recorded.aborted = end.aborted;
    this.#settled.add(request);
    // After a reset it is nobody's any more.
    if (this.#requests[request.index] === request) {
      this.#rememberedAndSettled.push({ request: recorded, size: this.#sizes.get(request) ?? 0 });
      this.#forgetTheOldest();
    }
    this.#room.changed();
  }

  next(after: number = this.#requests.length - 1): Promise<ModelRequest> {
    return this.#room.until(() => this.#requests[after + 1], `model request ${after + 1}`);
  }

  settled(index: number): Promise<ModelRequest> {
    return this.#room.until(() => {
      const request = this.#requests[index];
      return request !== undefined && this.#settled.has(request) ? request : undefined;
    }, `the end of the answer to model request ${index}`);
  }

  seen(text: string): ModelRequest[] {
    return this.#requests.filter(({ messages }) =>
      messages.some((message) => message.role === "user" && message.text.includes(text)),
    );
  }

  clear(): void {
    this.#requests = [];
    this.#rememberedAndSettled = [];
    this.#bytes = 0;
  }

  #forgetTheOldest(): void {
    while (this.#bytes > this.#maximumBytes) {
      const oldest = this.#rememberedAndSettled.shift();
      if (oldest === undefined) return;
      this.#bytes -= oldest.size;
      const { request } = oldest;
      delete request.reply;
      Object.assign(request, { body: undefined, messages: [], tools: [], forgotten: true });
    }
  }
}
