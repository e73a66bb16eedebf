import { isRecord, type JsonRecord, listOf, recordOf, textOf } from "@acp-steering/kit/adapter";
import { WebSocket } from "ws";
import type { KimiAddress } from "./kimi-api.js";
import { KimiGone } from "./kimi-error.js";

/** One event of one session, as Kimi names it: `turn.started`, `assistant.delta`, … */
type KimiFrame = JsonRecord & { readonly type: string };

type Listener = (frame: KimiFrame) => void;

interface Cursor {
  readonly seq: number;
  readonly epoch: string;
}

const MAX_FRAME_BYTES = 128 * 1024 * 1024;

/** The WebSocket side of one Kimi server: the events of the sessions that were subscribed to. */
export class KimiSocket {
  readonly #socket: WebSocket;
  readonly #listeners = new Map<string, Listener>();
  readonly #cursors = new Map<string, Cursor>();
  readonly #acknowledged = new Map<string, (payload: JsonRecord) => void>();
  #lastRequest = 0;
  /** Resolves when the connection is over, whoever ended it. */
  readonly closed: Promise<void>;

  /** @throws KimiGone */
  static open({ host, port, token }: KimiAddress): Promise<KimiSocket> {
    const socket = new WebSocket(`ws://${host}:${port}/api/v1/ws`, [`kimi-code.bearer.${token}`], {
      maxPayload: MAX_FRAME_BYTES,
    });
    return new Promise((resolve, reject) => {
      socket.once("open", () => resolve(new KimiSocket(socket)));
      socket.once("error", (cause) => reject(new KimiGone("Kimi's server refuses its event stream.", { cause })));
    });
  }

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    this.closed = new Promise((resolve) => socket.once("close", () => resolve()));
    // Its close follows, and is what counts.
    socket.on("error", () => {});
    socket.on("message", (data) => this.#receive(String(data)));
  }

  /**
   * Has the events of a session given to `listener` from now on, or from where an earlier subscription stood.
   * @returns false where Kimi does not have the session in its memory
   */
  async subscribe(sessionId: string, listener: Listener, cursor?: Cursor): Promise<boolean> {
    this.#listeners.set(sessionId, listener);
    const answer = await this.#request("subscribe", {
      session_ids: [sessionId],
      ...(cursor && { cursors: { [sessionId]: cursor } }),
    });
    return listOf(answer["accepted"]).includes(sessionId);
  }

  /** Where the events of a session stand, to go on from there with another socket. */
  cursorOf(sessionId: string): Cursor | undefined {
    return this.#cursors.get(sessionId);
  }

  unsubscribe(sessionId: string): void {
    this.#listeners.delete(sessionId);
    this.#cursors.delete(sessionId);
    this.#request("unsubscribe", { session_ids: [sessionId] }).catch(() => {});
  }

  close(): void {
    this.#socket.terminate();
  }

  #request(type: string, payload: JsonRecord): Promise<JsonRecord> {
    const id = String(++this.#lastRequest);
    return new Promise((resolve, reject) => {
      this.#acknowledged.set(id, resolve);
      void this.closed.then(() => reject(new KimiGone("Kimi's event stream ended.")));
      this.#send({ type, id, payload });
    });
  }

  #send(frame: JsonRecord): void {
    if (this.#socket.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(frame));
  }

  #receive(text: string): void {
    const frame = parse(text);
    switch (frame["type"]) {
      case "ping":
        this.#send({ type: "pong", payload: recordOf(frame["payload"]) });
        break;
      case "ack":
        this.#acknowledged.get(textOf(frame["id"]))?.(recordOf(frame["payload"]));
        this.#acknowledged.delete(textOf(frame["id"]));
        break;
      default:
        this.#hand(frame);
    }
  }

  #hand({ session_id: session, seq, epoch, payload }: JsonRecord): void {
    const sessionId = textOf(session);
    const listener = this.#listeners.get(sessionId);
    if (!listener || !isFrame(payload)) return;
    if (typeof seq === "number" && typeof epoch === "string") this.#cursors.set(sessionId, { seq, epoch });
    listener(payload);
  }
}

function isFrame(value: unknown): value is KimiFrame {
  return isRecord(value) && typeof value["type"] === "string";
}

function parse(text: string): JsonRecord {
  try {
    return recordOf(JSON.parse(text));
  } catch {
    return {};
  }
}
