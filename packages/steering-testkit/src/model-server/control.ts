import type { ModelServerError } from "./errors.js";
import type { ModelRequest } from "./request.js";

const PREFIX = "/_control/";

/** What the control endpoints may do to the server they belong to. */
export interface Controlled {
  requests(): readonly ModelRequest[];
  held(): readonly { readonly name: string; readonly request: number }[];
  release(name: string): number;
  reset(): void;
}

export interface ControlAnswer {
  readonly status: number;
  readonly body: unknown;
}

const problem = (status: number, code: string, message: string): ControlAnswer => ({
  status,
  body: { error: { code, message } },
});

const release = (controlled: Controlled, name: string): ControlAnswer => {
  try {
    return { status: 200, body: { released: controlled.release(name) } };
  } catch (error) {
    const { code, message } = error as ModelServerError;
    return problem(404, code, message);
  }
};

const decode = (name: string): string | undefined => {
  try {
    return decodeURIComponent(name);
  } catch {
    return undefined;
  }
};

export const isControlPath = (path: string): boolean => path.startsWith(PREFIX);

/** Answers a request below `/_control/`, by which tests in any language drive the server. */
export const answerControl = (controlled: Controlled, method: string, path: string): ControlAnswer => {
  const [command, ...rest] = path.slice(PREFIX.length).split("/");
  const name = decode(rest.join("/"));
  if (name === undefined) return problem(400, "malformedName", "The name is not valid percent-encoding.");
  switch (`${method} ${command}`) {
    case "GET requests":
      return { status: 200, body: { requests: controlled.requests() } };
    case "GET held":
      return { status: 200, body: { held: controlled.held() } };
    case "POST release":
      return release(controlled, name);
    case "POST reset":
      controlled.reset();
      return { status: 200, body: {} };
    default:
      return problem(
        404,
        "unknownCommand",
        "There are GET /_control/requests, GET /_control/held, POST /_control/release/<name> and POST /_control/reset.",
      );
  }
};
