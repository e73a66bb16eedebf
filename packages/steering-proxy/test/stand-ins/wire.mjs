// @ts-nocheck: it plays a peer on the wire, whose messages have no types.
// JSON-RPC over stdio, as an agent speaks it.

const waiting = new Map();
let nextId = 1;

const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);

export const notify = (method, params) => send({ method, params });

/** Asks the client; resolves with its result. */
export function ask(method, params) {
  const id = `agent-${nextId++}`;
  send({ id, method, params });
  return new Promise((resolve) => waiting.set(id, resolve));
}

/** What a request is refused with. */
export const refusal = (code, message, data) => Object.assign(new Error(message), { code, data });

async function answer({ id, params }, handler) {
  try {
    const result = await handler(params);
    if (id !== undefined) send({ id, result });
  } catch ({ code = -32603, message, data }) {
    if (id !== undefined) send({ id, error: { code, message, data } });
  }
}

function receive(message, handlers) {
  const { id, method, result } = message;
  if (method === undefined) {
    waiting.get(id)?.(result);
    waiting.delete(id);
    return;
  }
  const unknown = () => {
    throw refusal(-32601, `"Method not found": ${method}`);
  };
  void answer(message, handlers[method] ?? unknown);
}

/** Serves what is asked on stdin, each by the handler of its method, until the client goes. */
export function serve(handlers) {
  let unfinished = "";
  process.stdin.setEncoding("utf8");
  process.stdin.on("data", (chunk) => {
    const lines = (unfinished + chunk).split("\n");
    unfinished = lines.pop();
    for (const line of lines) if (line.trim() !== "") receive(JSON.parse(line), handlers);
  });
  process.stdin.on("end", () => process.exit());
}
