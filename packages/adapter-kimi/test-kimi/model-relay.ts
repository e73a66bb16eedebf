import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** One address for the model of a Kimi that outlives the scripted models behind it. */
export interface ModelRelay {
  readonly url: string;
  /** From now on requests go to that base URL. */
  pointTo(modelUrl: string): void;
  close(): Promise<void>;
}

/** Passes requests on as they are, and the end of either side to the other. */
export async function startModelRelay(): Promise<ModelRelay> {
  let target: string | undefined;
  const server = createServer((incoming, outgoing) => relay(incoming, outgoing, target));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/v1`,
    pointTo: (modelUrl) => {
      target = modelUrl;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function relay(incoming: IncomingMessage, outgoing: ServerResponse, target: string | undefined): void {
  if (target === undefined) {
    outgoing.writeHead(503).end();
    return;
  }
  const url = new URL(target.replace(/\/v1$/, "") + (incoming.url ?? ""));
  const { host: _host, ...headers } = incoming.headers;
  const passed = request(url, { method: incoming.method, headers }, (answer) => {
    outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
    outgoing.flushHeaders();
    answer.pipe(outgoing);
    answer.on("error", () => outgoing.destroy());
  });
  passed.on("error", () => outgoing.destroy());
  outgoing.on("close", () => passed.destroy());
  incoming.pipe(passed);
}
