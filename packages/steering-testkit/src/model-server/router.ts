import type { IncomingMessage } from "node:http";
import { chatCompletions } from "./chat-completions.js";
import { answerControl, type Controlled, isControlPath } from "./control.js";
import type { Dialect } from "./dialect.js";
import type { Exchange } from "./exchange.js";
import { refusalLine } from "./log-lines.js";
import { readBody } from "./read-body.js";
import type { ModelRequest, ReadRequest } from "./request.js";

/** A further provider's format is one more file and one more entry here. */
const DIALECTS: readonly Dialect[] = [chatCompletions];
const MODEL_LIST = {
  object: "list",
  data: [{ id: "scripted", object: "model", created: 0, owned_by: "acp-steering" }],
};

export interface Routes {
  readonly maxBodyBytes: number;
  /** Absent where the control endpoints are not offered. */
  readonly controlled: Controlled | undefined;
  readonly log: (line: string) => void;
  readonly answerModelRequest: (
    exchange: Exchange,
    dialect: Dialect,
    request: ReadRequest & Pick<ModelRequest, "dialect" | "path" | "body">,
  ) => Promise<void>;
}

interface Call {
  readonly routes: Routes;
  readonly exchange: Exchange;
  readonly incoming: IncomingMessage;
  readonly method: string;
  readonly path: string;
}

const refuse = async (
  { routes, exchange, method, path }: Call,
  dialect: Dialect,
  status: number,
  reason: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<void> => {
  routes.log(refusalLine(status, method, path, reason));
  await exchange.sendJson(status, dialect.error({ status, message: reason }), headers);
};

const answerDialect = async (call: Call, dialect: Dialect): Promise<void> => {
  const { routes, exchange, incoming, path } = call;
  if (call.method !== "POST") return refuse(call, dialect, 405, "Use POST.", { allow: "POST" });
  const body = await readBody(incoming, routes.maxBodyBytes);
  if (body.kind === "tooLarge") {
    const reason = `The body is larger than ${routes.maxBodyBytes} bytes.`;
    return refuse(call, dialect, 413, reason, { connection: "close" });
  }
  if (body.kind === "malformed") return refuse(call, dialect, 400, "The body is not valid JSON.");
  const reading = dialect.read(body.value);
  if (!reading.ok) return refuse(call, dialect, 400, `Invalid request: ${reading.path} ${reading.reason}.`);
  await routes.answerModelRequest(exchange, dialect, {
    dialect: dialect.name,
    path,
    ...reading.request,
    body: body.value,
  });
};

/** Finds out what a request is for and sees to it that it is answered. */
export const route = async (routes: Routes, exchange: Exchange, incoming: IncomingMessage): Promise<void> => {
  const method = incoming.method ?? "GET";
  const path = (incoming.url ?? "/").replace(/\?.*$/s, "");
  const call: Call = { routes, exchange, incoming, method, path };
  if (routes.controlled !== undefined && isControlPath(path)) {
    const { status, body } = answerControl(routes.controlled, method, path);
    return exchange.sendJson(status, body);
  }
  if (path === "/v1/models" && method === "GET") return exchange.sendJson(200, MODEL_LIST);
  const dialect = DIALECTS.find((candidate) => candidate.matches(path));
  if (dialect !== undefined) return answerDialect(call, dialect);
  await refuse(call, chatCompletions, 404, `There is nothing at ${method} ${path}.`);
};
