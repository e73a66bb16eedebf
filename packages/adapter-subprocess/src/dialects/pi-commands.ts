import { type JsonRecord, textOf } from "@acp-steering/kit/adapter";
import type { Channel } from "../dialect.js";

/** Pi answered a command with `success: false`. */
export class PiRefusal extends Error {
  constructor(message: string) {
    super(message);
    this.name = "PiRefusal";
  }
}

interface PendingCommand {
  readonly type: string;
  resolve(data: unknown): void;
  reject(error: Error): void;
}

/** Commands to Pi and the responses that answer them, matched by id. */
export class PiCommands {
  readonly #channel: Channel;
  readonly #pending = new Map<string, PendingCommand>();
  #count = 0;
  #ended: Error | undefined;

  constructor(channel: Channel) {
    this.#channel = channel;
  }

  /** Resolves with the response's `data`; rejects with {@link PiRefusal}, or with the reason why the child is gone. */
  send(type: string, fields: JsonRecord = {}): Promise<unknown> {
    if (this.#ended) return Promise.reject(this.#ended);
    this.#count += 1;
    const id = `steering-${this.#count}`;
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { type, resolve, reject });
      void this.#channel.send({ ...fields, id, type });
    });
  }

  receive(response: JsonRecord): void {
    const id = textOf(response["id"]) || this.#unnamed(textOf(response["command"]));
    const command = this.#pending.get(id);
    this.#pending.delete(id);
    if (response["success"] === true) command?.resolve(response["data"]);
    else command?.reject(new PiRefusal(textOf(response["error"]) || "Pi gave no reason"));
  }

  ended(error: Error): void {
    this.#ended = error;
    for (const command of this.#pending.values()) command.reject(error);
    this.#pending.clear();
  }

  /** Pi 0.73 refuses a command that it does not know without saying which one it was. */
  #unnamed(type: string): string {
    const [id = ""] = [...this.#pending].find(([, command]) => command.type === type) ?? [];
    return id;
  }
}
