import { once } from "node:events";
import type { ServerResponse } from "node:http";

/** One HTTP answer while it is being given. */
export class Exchange {
  readonly #response: ServerResponse;
  readonly #gone = new AbortController();
  #cut = false;

  constructor(response: ServerResponse) {
    this.#response = response;
    response.on("close", () => {
      if (!response.writableFinished) this.#gone.abort(new Error("The connection ended before the answer."));
    });
    // Writes to a connection that just broke report here; "close" follows and is what counts.
    response.on("error", () => {});
  }

  /** Aborted when the connection ends before the whole answer was sent, whoever ended it. */
  get signal(): AbortSignal {
    return this.#gone.signal;
  }

  get abortedByClient(): boolean {
    return this.#gone.signal.aborted && !this.#cut;
  }

  get started(): boolean {
    return this.#response.headersSent;
  }

  async sendJson(status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): Promise<void> {
    this.signal.throwIfAborted();
    const text = JSON.stringify(body);
    if (!this.started) this.#response.writeHead(status, { "content-type": "application/json", ...headers });
    await this.#finish(text);
  }

  /** Sends the headers of a JSON answer, which `sendJson` completes. */
  openJson(): void {
    this.signal.throwIfAborted();
    this.#response.writeHead(200, { "content-type": "application/json" });
    this.#response.flushHeaders();
  }

  /** Sends the first half of a JSON body as if it were all of it. */
  async sendHalfJson(body: unknown): Promise<void> {
    this.signal.throwIfAborted();
    const text = JSON.stringify(body);
    if (!this.started) this.#response.writeHead(200, { "content-type": "application/json" });
    await this.#finish(text.slice(0, Math.floor(text.length / 2)));
  }

  openStream(): void {
    this.signal.throwIfAborted();
    this.#response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache" });
    this.#response.flushHeaders();
  }

  /** Resolves when the client can take more, so that a slow client costs no memory. */
  async write(text: string): Promise<void> {
    this.signal.throwIfAborted();
    if (!this.#response.write(text)) await once(this.#response, "drain", { signal: this.signal });
  }

  async end(): Promise<void> {
    this.signal.throwIfAborted();
    await this.#finish();
  }

  /** Sends the first half of a JSON body and breaks off, as a provider that dies does. */
  async cutJson(body: unknown): Promise<void> {
    this.signal.throwIfAborted();
    const encoded = Buffer.from(JSON.stringify(body));
    if (!this.started) {
      this.#response.writeHead(200, { "content-type": "application/json", "content-length": encoded.length });
    }
    this.#response.write(encoded.subarray(0, Math.floor(encoded.length / 2)));
    await this.cut();
  }

  /** Breaks the connection off after what was written so far. */
  async cut(): Promise<void> {
    this.#cut = true;
    const closed = this.#closed();
    this.#response.socket?.destroySoon();
    await closed;
  }

  /** Breaks the connection off at once. */
  destroy(): void {
    this.#cut = true;
    this.#response.destroy();
  }

  async #finish(text?: string): Promise<void> {
    const closed = this.#closed();
    this.#response.end(text);
    await closed;
  }

  async #closed(): Promise<void> {
    if (!this.#response.closed) await once(this.#response, "close");
  }
}
