/** A JSON-RPC id as found on the wire. */
export type RequestId = string | number;

/** One parsed JSON-RPC message; which fields are there tells what it is. */
export interface ParsedMessage {
  readonly id?: RequestId | null;
  readonly method?: string;
  readonly params?: unknown;
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}

/** One line on the wire: `out` from the client to the agent, `in` from the agent to the client. */
export interface WireRecord {
  /** 0 for the first line in either direction, then one more for each. */
  readonly order: number;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly direction: "out" | "in";
  readonly raw: string;
  /** The line as JSON; missing where it is not a JSON object. */
  readonly message?: ParsedMessage;
}

/** A request that was sent: its id and its first answer. */
export interface SentRequest<Result> {
  readonly id: RequestId;
  readonly answer: Promise<Result>;
}

/** The parameters of `session/update`, with the update left as it came. */
export interface SessionUpdateParams {
  readonly sessionId: string;
  readonly update: Record<string, unknown>;
}

/** A content block as it is to stand on the wire; kept open, so that wrong ones can be sent too. */
export type ContentBlockLike = Readonly<Record<string, unknown>>;

/** Gives the result of a request of the agent; a thrown error with a numeric `code` becomes the error answer. */
export type RequestHandler = (params: unknown) => unknown;

/** How the agent process ended. */
export interface AgentExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/**
 * An error answer of the agent, recognised by `code`: the JSON-RPC code, or `"agentExited"` where the agent process ended
 * before it answered.
 */
export class WireError extends Error {
  readonly code: number | "agentExited";
  readonly data: unknown;

  constructor(code: number | "agentExited", message: string, data?: unknown) {
    super(message);
    this.name = "WireError";
    this.code = code;
    this.data = data;
  }
}

/** A line as a JSON object, or `undefined` where it is none. */
export function parseLine(line: string): ParsedMessage | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** A string as one text block, blocks as they are. */
export function asBlocks(prompt: string | readonly ContentBlockLike[]): readonly ContentBlockLike[] {
  return typeof prompt === "string" ? [{ type: "text", text: prompt }] : prompt;
}
