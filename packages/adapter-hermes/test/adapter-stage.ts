import { steeringAgent } from "@acp-steering/kit";
import { WireClient } from "@acp-steering/testkit";
import type { ModelServer } from "@acp-steering/testkit/model-server";
import { onTestFinished } from "vitest";
import { hermesVendor } from "../src/index.js";
import { STAND_IN_PYTHON } from "./stand-in/bridge-process.js";
import { createHome, environment, type Home, type StageOptions, temporaryFolder } from "./stand-in/stage.js";

export interface AdapterStage {
  readonly client: WireClient;
  readonly model: ModelServer;
  readonly home: Home;
  readonly cwd: string;
  readonly sessionId: string;
  /** What the adapter has logged. */
  readonly log: readonly string[];
}

export interface AdapterOptions extends StageOptions {
  readonly clientCapabilities?: Record<string, unknown>;
}

/** Receipts and echoes of steers, as a host that knows them asks for them. */
export const RECEIPTS = { _meta: { steering: { receipts: true, echo: true } } };

/** The adapter in this process, over the real bridge and the stand-in; it ends with the test. */
export function connectAdapter(home: string, env: NodeJS.ProcessEnv = {}): { client: WireClient; log: string[] } {
  const log: string[] = [];
  const vendor = hermesVendor({
    python: STAND_IN_PYTHON,
    hermesHome: home,
    env: { ...environment(home, env), HERMES_HOME: undefined },
    log: (line) => void log.push(line),
  });
  const agent = steeringAgent(vendor);
  onTestFinished(() => agent.dispose());
  return { client: WireClient.connect(agent), log };
}

/** The adapter with one session open. */
export async function openAdapter(options: AdapterOptions = {}): Promise<AdapterStage> {
  const { home, model } = await createHome(options);
  const { client, log } = connectAdapter(home.path, options.env);
  await client.initialize(options.clientCapabilities);
  const cwd = await temporaryFolder();
  return { client, model, home, cwd, log, sessionId: await client.newSession(cwd) };
}

/** The process that Hermes runs in, as the adapter's log names it. */
export function hermesPid({ log }: Pick<AdapterStage, "log">): number {
  const started = log.findLast((line) => line.startsWith("started Hermes"));
  return Number(/process (\d+)/.exec(started ?? "")?.[1]);
}

/** The updates of the session without the announcement of commands. */
export function said({ client, sessionId }: Pick<AdapterStage, "client" | "sessionId">): Record<string, unknown>[] {
  return client.updates(sessionId).filter(({ sessionUpdate }) => sessionUpdate !== "available_commands_update");
}
