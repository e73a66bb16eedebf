import type { IncomingMessage } from "node:http";
import { answerControl, type Controlled, isControlPath } from "./control.js";
import type { Dialect, SideRequest } from "./dialect.js";
import { DIALECTS } from "./dialects.js";
import type { Exchange } from "./exchange.js";
import { refusalLine, sideLine } from "./log-lines.js";
import { answerModels, isModelPath } from "./model-list.js";
import { readBody } from "./read-body.js";
import type { ReplyError } from "./reply.js";
import type { ModelRequest, ReadRequest } from "./request.js";

type ArrivedRequest = ReadRequest & Pick<ModelRequest, "dialect" | "path" | "body"> & { readonly size: number };

export interface Routes {
  readonly maxBodyBytes: number;
  /** Absent where the control endpoints are not offered. */
  readonly controlled: Controlled | undefined;
  readonly log: (line: string) => void;
  /** The requests until now. */
  readonly earlier: () => readonly ModelRequest[];
  readonly answerModelRequest: (exchange: Exchange, dialect: Dialect, request: ArrivedRequest) => Promise<void>;
}

interface Call {
  readonly routes: Routes;
  readonly exchange: Exchange;
  readonly incoming: IncomingMessage;
  readonly method: string;
  readonly path: string;
  /** Speaks for the server where the path is nobody's: the dialect whose header the client sends, or the first. */
  readonly fallback: Dialect;
}

const refuse = async (
  { routes, exchange, method, path }: Call,
  dialect: Dialect,
  error: ReplyError & { readonly message: string },
  headers: Readonly<Record<string, string>> = {},
): Promise<void> => {
  routes.log(refusalLine(error.status, method, path, error.message));
  await exchange.sendJson(error.status, dialect.error(error), headers);
};

/** The body of a request to this dialect; `undefined` when it could not be had and the client knows. */
const bodyFor = async (
  call: Call,
  dialect: Dialect,
): Promise<{ readonly value: unknown; readonly size: number } | undefined> => {
  const { maxBodyBytes } = call.routes;
  const body = await readBody(call.incoming, maxBodyBytes);
  switch (body.kind) {
    case "json":
      return body;
    case "tooLarge":
      // Some clients read no answer before they have sent everything.
      call.incoming.resume();
      await refuse(call, dialect, { status: 413, message: `The body is larger than ${maxBodyBytes} bytes.` });
      return undefined;
    case "malformed":
      await refuse(call, dialect, { status: 400, message: "The body is not valid JSON." });
      return undefined;
  }
};

const answerDialect = async (call: Call, dialect: Dialect): Promise<void> => {
  const body = await bodyFor(call, dialect);
  if (body === undefined) return;
  const reading = dialect.read(body.value, call.routes.earlier());
  if (!reading.ok) {
    const { path, reason, ...code } = reading;
    return refuse(call, dialect, { status: 400, message: `Invalid request: ${path} ${reason}.`, ...code });
  }
  await call.routes.answerModelRequest(call.exchange, dialect, {
    dialect: dialect.name,
    path: call.path,
    ...reading.request,
    body: body.value,
    size: body.size,
  });
};

const answerSide = async (call: Call, dialect: Dialect, side: SideRequest): Promise<void> => {
  const body = await bodyFor(call, dialect);
  if (body === undefined) return;
  call.routes.log(sideLine(call.method, call.path));
  await call.exchange.sendJson(200, side.answer(body.value));
};

const answerPost = async (call: Call, dialect: Dialect, answer: () => Promise<void>): Promise<void> => {
  if (call.method === "POST") return answer();
  // A client that wants a socket here must learn that there is none, and clients take only this status for that.
  const isUpgrade = call.incoming.headers.upgrade !== undefined;
  const error = isUpgrade ? { status: 426, message: "No WebSocket: use POST." } : { status: 405, message: "Use POST." };
  await refuse(call, dialect, error, { allow: "POST" });
};

const isProbe = ({ method, path }: Call): boolean =>
  (method === "GET" || method === "HEAD") && (path === "" || path.endsWith("/v1"));

const answerOther = async (call: Call): Promise<void> => {
  const { exchange, method, path, fallback } = call;
  if (isProbe(call)) return exchange.sendJson(200, { dialects: DIALECTS.map(({ name }) => name) });
  if (isModelPath(path) && (method === "GET" || method === "HEAD")) {
    return exchange.sendJson(200, answerModels(path, fallback.name === "anthropic"));
  }
  await refuse(call, fallback, { status: 404, message: `There is nothing at ${method} ${path || "/"}.` });
};

const callOf = (routes: Routes, exchange: Exchange, incoming: IncomingMessage): Call => {
  const method = incoming.method ?? "GET";
  const path = (incoming.url ?? "/").replace(/\?.*$/s, "").replace(/\/+$/, "");
  const wanted = incoming.headers["anthropic-version"] === undefined ? "openai-chat" : "anthropic";
  const fallback = DIALECTS.find(({ name }) => name === wanted) as Dialect;
  return { routes, exchange, incoming, method, path, fallback };
};

/** Finds out what a request is for and sees to it that it is answered. */
export const route = async (routes: Routes, exchange: Exchange, incoming: IncomingMessage): Promise<void> => {
  const call = callOf(routes, exchange, incoming);
  const { method, path } = call;
  if (routes.controlled !== undefined && isControlPath(path)) {
    const { status, body } = answerControl(routes.controlled, method, path);
    return exchange.sendJson(status, body);
  }
  for (const dialect of DIALECTS) {
    if (dialect.matches(path)) return answerPost(call, dialect, () => answerDialect(call, dialect));
    const { side } = dialect;
    if (side?.matches(path) === true) return answerPost(call, dialect, () => answerSide(call, dialect, side));
  }
  await answerOther(call);
};
