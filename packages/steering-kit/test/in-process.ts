import type { Steerable } from "@acp-steering/core";
import type { AnyMessage, RequestPermissionResponse, SessionNotification } from "@agentclientprotocol/sdk/unstable";
import { type ClientConnection, client, methods } from "@agentclientprotocol/sdk/unstable";

/** A client in the same process, with what it received in the order in which it came. */
export interface Connected {
  readonly connection: ClientConnection;
  readonly agent: ClientConnection["agent"];
  /** Session updates, receipts, and marks of the test's own. */
  readonly received: { kind: string; value: unknown }[];
}

/** Connects an SDK client to an agent over a pair of streams. `permission` answers every permission request. */
export function connectClient(
  steerable: Pick<Steerable, "connect">,
  permission: (context: { signal: AbortSignal }) => Promise<RequestPermissionResponse> = async () => ({
    outcome: { outcome: "cancelled" },
  }),
): Connected {
  const toAgent = new TransformStream<AnyMessage, AnyMessage>();
  const toClient = new TransformStream<AnyMessage, AnyMessage>();
  const received: Connected["received"] = [];
  steerable.connect({ readable: toAgent.readable, writable: toClient.writable });
  const connection = client()
    .onNotification(methods.client.session.update, ({ params }: { params: SessionNotification }) => {
      received.push({ kind: "update", value: params.update });
    })
    .onNotification(
      "_session/steering/update",
      (params) => params as { state: string },
      ({ params }) => {
        received.push({ kind: params.state, value: params });
      },
    )
    .onRequest(methods.client.session.requestPermission, permission)
    .connect({ readable: toClient.readable, writable: toAgent.writable });
  return { connection, agent: connection.agent, received };
}

export function text(value: string): { type: "text"; text: string } {
  return { type: "text", text: value };
}

/** A promise that the test settles. */
export function gate<Value = void>(): { opened: Promise<Value>; open: (value: Value) => void } {
  let open: (value: Value) => void = () => {};
  const opened = new Promise<Value>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}
