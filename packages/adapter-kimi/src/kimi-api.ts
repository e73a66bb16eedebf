import { Agent, request } from "node:http";
import { isRecord, type JsonRecord } from "@acp-steering/kit/adapter";
import { KimiGone, KimiRefusal } from "./kimi-error.js";

/** Where a Kimi server listens, and what opens it. The token belongs into a header and nowhere else. */
export interface KimiAddress {
  readonly host: string;
  readonly port: number;
  readonly token: string;
}

/** Nothing that is asked here takes Kimi long: it answers a prompt before it runs it. */
const TIMEOUT_MS = 30_000;

/** The REST side of one Kimi server: its envelopes opened, its refusals thrown. */
export class KimiApi {
  readonly #address: KimiAddress;
  readonly #agent = new Agent({ keepAlive: true });

  constructor(address: KimiAddress) {
    this.#address = address;
  }

  /** @throws KimiRefusal, KimiGone */
  get(path: string, timeoutMs: number = TIMEOUT_MS): Promise<unknown> {
    return this.#call("GET", path, undefined, timeoutMs);
  }

  /** @throws KimiRefusal, KimiGone */
  post(path: string, body: unknown = {}): Promise<unknown> {
    return this.#call("POST", path, body, TIMEOUT_MS);
  }

  close(): void {
    this.#agent.destroy();
  }

  async #call(method: string, path: string, body: unknown, timeoutMs: number): Promise<unknown> {
    const text = await this.#exchange(method, path, body === undefined ? undefined : JSON.stringify(body), timeoutMs);
    const envelope = parse(text);
    if (!envelope) throw new KimiGone(`Kimi answered ${method} ${path} with something that is no JSON object.`);
    const { code, msg, data } = envelope;
    if (code === 0) return data;
    throw new KimiRefusal(typeof code === "number" ? code : -1, typeof msg === "string" ? msg : "no reason given");
  }

  #exchange(method: string, path: string, body: string | undefined, timeoutMs: number): Promise<string> {
    const { host, port, token } = this.#address;
    const headers: Record<string, string> = { authorization: `Bearer ${token}` };
    if (body !== undefined) headers["content-type"] = "application/json";
    return new Promise((resolve, reject) => {
      const fail = (cause: Error): void =>
        reject(new KimiGone(`Kimi's server does not answer: ${cause.message}`, { cause }));
      const sent = request(
        { agent: this.#agent, host, port, method, path, headers, timeout: timeoutMs },
        (response) => {
          const chunks: Buffer[] = [];
          response.on("data", (chunk: Buffer) => chunks.push(chunk));
          response.on("end", () => resolve(Buffer.concat(chunks).toString("utf8")));
          response.on("error", fail);
        },
      );
      sent.on("timeout", () => sent.destroy(new Error(`no answer within ${timeoutMs} ms`)));
      sent.on("error", fail);
      sent.end(body);
    });
  }
}

function parse(text: string): JsonRecord | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
