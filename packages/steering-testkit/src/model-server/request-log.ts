import type { ModelRequest } from "./request.js";
import type { WaitingRoom } from "./waiting-room.js";

type Recorded = { -readonly [Key in keyof ModelRequest]: ModelRequest[Key] };

/** Every request since the last reset, and how its answer ended. */
export class RequestLog {
  readonly #room: WaitingRoom;
  readonly #settled = new WeakSet<ModelRequest>();
  #requests: Recorded[] = [];

  constructor(room: WaitingRoom) {
    this.#room = room;
  }

  get requests(): readonly ModelRequest[] {
    return this.#requests;
  }

  add(arrived: Omit<ModelRequest, "index" | "at" | "aborted">): ModelRequest {
    const request: Recorded = { index: this.#requests.length, at: Date.now(), ...arrived, aborted: false };
    this.#requests.push(request);
    this.#room.changed();
    return request;
  }

  settle(request: ModelRequest, end: { readonly aborted: boolean }): void {
    (request as Recorded).aborted = end.aborted;
    this.#settled.add(request);
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
  }
}
