import type { AgentFactory } from "@agentclientprotocol/sdk/experimental/server";
import { agentProtocolRouter } from "@agentclientprotocol/sdk/experimental/v2";
import { agent, type ContentBlock as SdkContentBlock, type Stream } from "@agentclientprotocol/sdk/unstable";
import { afterEach, describe, expect, it } from "vitest";
import type { AgentConnector, ContentBlock, MessageStream, Steerable } from "../src/index.js";
import { steering } from "../src/index.js";
import { streamPair, textBlock } from "./support/rig.js";
import {
  inProcess,
  overHttp,
  overLines,
  overWebSocket,
  SdkAgent,
  SdkClient,
  type Transport,
} from "./support/sdk-world.js";

type ServerConnector = ReturnType<AgentFactory>;
type Wrap = (app: AgentConnector) => AgentConnector;

const WRAPS: [string, Wrap][] = [
  ["an AgentApp", (app) => steering(app)],
  ["the protocol router", (app) => steering(agentProtocolRouter().withV1(app))],
  ["a layer inside the protocol router", (app) => agentProtocolRouter().withV1(steering(app))],
  ["another steerable", (app) => steering(steering(app))],
];
const TRANSPORTS: [string, (connector: AgentConnector) => Transport | Promise<Transport>][] = [
  ["in process", inProcess],
  ["JSON lines", overLines],
  ["HTTP", overHttp],
  ["WebSocket", overWebSocket],
];
const WORLDS = WRAPS.flatMap(([what, wrap]) =>
  TRANSPORTS.map(([how, transport]) => [what, how, wrap, transport] as const),
);

let transport: Transport | undefined;
const clients: SdkClient[] = [];

afterEach(async () => {
  for (const { connection } of clients.splice(0)) connection.close();
  await transport?.close();
  transport = undefined;
});

/** An agent behind the layer, and a client that has opened a session. */
async function world(
  wrap: Wrap,
  open: (connector: AgentConnector) => Transport | Promise<Transport>,
): Promise<{ sdk: SdkAgent; first: SdkClient; sessionId: string }> {
  const sdk = new SdkAgent();
  transport = await open(wrap(sdk.app));
  const first = await join();
  return { sdk, first, sessionId: await first.newSession() };
}

async function join(): Promise<SdkClient> {
  const client = new SdkClient((transport as Transport).connect());
  clients.push(client);
  await client.initialize();
  return client;
}

describe.each(WORLDS)("the layer around %s over %s", (_, __, wrap, open) => {
  it("G1 no lost steer: a steer from another connection; the receipt to its sender, the response to the owner", async () => {
    const { sdk, first, sessionId } = await world(wrap, open);
    const second = await join();
    await second.load(sessionId);
    const owner = first.prompt(sessionId, "go");
    const run = await sdk.runs.next();
    const { outcome, _meta } = await second.steer(sessionId, "left");
    expect(outcome).toBe("injected");
    run.end("end_turn");
    const continuation = await sdk.runs.next();
    expect(continuation).toMatchObject({ sessionId, texts: ["left"] });
    await continuation.say("all right");
    continuation.end("end_turn");
    const { turnId, messageId } = _meta.steering;
    expect(await owner).toMatchObject({
      stopReason: "end_turn",
      _meta: { steering: { turnId, runs: [{ stopReason: "end_turn" }, { stopReason: "end_turn" }], undelivered: [] } },
    });
    expect(await second.receipts.next()).toMatchObject({ state: "turnStarted", turnId });
    expect(await second.receipts.next()).toMatchObject({ state: "delivered", turnId, messageId });
    expect(await second.receipts.next()).toMatchObject({ state: "turnEnded", turnId });
    expect(first.states).toEqual(["turnStarted", "turnEnded"]);
  });

  it("G5 idle consumes nothing: promptRequired, then the client sends it as a prompt and owns that turn", async () => {
    const { sdk, first, sessionId } = await world(wrap, open);
    expect(await first.steer(sessionId, "left")).toMatchObject({ outcome: "promptRequired", reason: "noRunningTurn" });
    expect(sdk.runs.length).toBe(0);
    const owner = first.prompt(sessionId, "left");
    (await sdk.runs.next()).end("end_turn");
    expect(await owner).toMatchObject({ stopReason: "end_turn" });
  });

  it("G6 cancel: it never overtakes its prompt, and the next prompt works", async () => {
    const { sdk, first, sessionId } = await world(wrap, open);
    const owner = first.prompt(sessionId, "go");
    await first.cancel(sessionId);
    const run = await sdk.runs.next();
    expect(await sdk.cancels.next()).toBe(sessionId);
    expect(sdk.seen).toEqual(["prompt", "cancel"]);
    run.end("cancelled");
    expect(await owner).toMatchObject({ stopReason: "cancelled" });
    const next = first.prompt(sessionId, "again");
    (await sdk.runs.next()).end("end_turn");
    expect(await next).toMatchObject({ stopReason: "end_turn" });
    expect(sdk.cancels.length).toBe(0);
  });

  it("G8 containment: an agent whose handler throws costs its turn and nothing else", async () => {
    const { sdk, first, sessionId } = await world(wrap, open);
    const owner = first.prompt(sessionId, "go").catch((error: unknown) => error);
    const run = await sdk.runs.next();
    await first.steer(sessionId, "left");
    run.fail(new Error("broken"));
    expect(await owner).toMatchObject({
      code: -32603,
      data: { steering: { undelivered: [{ reason: "agentFailed" }] } },
    });
    const next = first.prompt(sessionId, "again");
    (await sdk.runs.next()).end("end_turn");
    expect(await next).toMatchObject({ stopReason: "end_turn" });
  });
});

describe("the layer and the SDK", () => {
  it("G8 containment: the owner's connection ends: the run is cancelled, the sender of the steer is told", async () => {
    const { sdk, first, sessionId } = await world((app) => steering(app), overWebSocket);
    const second = await join();
    await second.load(sessionId);
    const owner = first.prompt(sessionId, "go").catch(() => "gone");
    const run = await sdk.runs.next();
    await second.steer(sessionId, "left");
    first.connection.close();
    expect(await owner).toBe("gone");
    expect(await sdk.cancels.next()).toBe(sessionId);
    run.end("cancelled");
    expect(await second.receipts.next()).toMatchObject({ state: "turnStarted" });
    expect(await second.receipts.next()).toMatchObject({ state: "undelivered", reason: "closed" });
    const next = second.prompt(sessionId, "again");
    (await sdk.runs.next()).end("end_turn");
    expect(await next).toMatchObject({ stopReason: "end_turn" });
  });

  it("before initialize a steer is refused by the agent's SDK", async () => {
    const sdk = new SdkAgent();
    transport = inProcess(steering(sdk.app));
    const client = new SdkClient(transport.connect());
    clients.push(client);
    await expect(client.steer("s1", "left")).rejects.toMatchObject({
      code: -32600,
      message: expect.stringContaining("initialize"),
    });
  });

  it("an agent that closes its connection: the steerable's connection ends, and the prompt is answered", async () => {
    const sdk = new SdkAgent();
    const [mine, theirs] = streamPair();
    const closing: (() => void)[] = [];
    const app: AgentConnector = {
      connect: (stream) => {
        const connection = sdk.app.connect(stream);
        closing.push(() => connection.close());
        return connection;
      },
    };
    const { closed } = steering(app).connect(theirs);
    const client = new SdkClient(mine);
    clients.push(client);
    await client.initialize();
    const owner = client.prompt(await client.newSession(), "go").catch((error: unknown) => error);
    await sdk.runs.next();
    closing[0]?.();
    await closed;
    expect(await owner).toMatchObject({ code: -32603 });
  });

  it("connect handlers run at once, or when the server starts them", async () => {
    const seen: string[] = [];
    const app = agent().onConnect(() => void seen.push("connected"));
    steering(app).connect(streamPair()[0]);
    expect(seen).toEqual(["connected"]);
    const deferred = steering(app).connect(streamPair()[0], { deferConnectHandlers: true });
    expect(seen).toEqual(["connected"]);
    deferred.startConnectHandlers();
    expect(seen).toEqual(["connected", "connected"]);
  });

  it("its shapes are the SDK's, both ways (checked by the compiler)", () => {
    const toSdk = (block: ContentBlock): SdkContentBlock => block;
    const fromSdk = (block: SdkContentBlock): ContentBlock => block;
    const streamToSdk = (stream: MessageStream): Stream => stream;
    const streamFromSdk = (stream: Stream): MessageStream => stream;
    const toServer = (steerable: Steerable): ServerConnector => steerable;
    const fromServer = (connector: ServerConnector): AgentConnector => connector;
    const block = fromSdk(toSdk(textBlock("x")));
    const stream = streamFromSdk(streamToSdk(streamPair()[0]));
    expect([block, typeof stream, typeof fromServer(toServer(steering(agent()))).connect]).toEqual([
      textBlock("x"),
      "object",
      "function",
    ]);
  });
});
