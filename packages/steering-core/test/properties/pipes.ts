import type { MessageStream } from "../../src/protocol.js";
import type { Message } from "./history.js";

type ReadResult = { readonly done: boolean; readonly value: Message | undefined };

/** The reading end of a stream in memory, of which the test decides what comes and when. */
export class Inlet {
  private readonly ready: ReadResult[] = [];
  private readonly readers: ((result: ReadResult) => void)[] = [];
  private ended = false;

  /** Nobody reads any more. */
  get isOver(): boolean {
    return this.ended;
  }

  push(message: Message): void {
    this.offer({ done: false, value: message });
  }

  end(): void {
    this.offer({ done: true, value: undefined });
    this.ended = true;
  }

  private offer(result: ReadResult): void {
    if (this.ended) return;
    const reader = this.readers.shift();
    if (reader) reader(result);
    else this.ready.push(result);
  }

  private read(): Promise<ReadResult> {
    const result = this.ready.shift();
    if (result) return Promise.resolve(result);
    if (this.ended) return Promise.resolve({ done: true, value: undefined });
    return new Promise((resolve) => this.readers.push(resolve));
  }

  private cancel(): void {
    this.end();
    for (const reader of this.readers.splice(0)) reader({ done: true, value: undefined });
  }

  get readable(): MessageStream["readable"] {
    const reader = { read: () => this.read(), cancel: async () => this.cancel(), releaseLock: () => {} };
    return { getReader: () => reader } as unknown as MessageStream["readable"];
  }
}

/** The writing end of a stream in memory: every message is seen the moment it is written. */
export function outlet(write: (message: Message) => void): MessageStream["writable"] {
  const writer = {
    write: async (message: Message) => write(message),
    close: async () => {},
    abort: async () => {},
    releaseLock: () => {},
    ready: Promise.resolve(),
    closed: new Promise<void>(() => {}),
  };
  return { getWriter: () => writer } as unknown as MessageStream["writable"];
}
