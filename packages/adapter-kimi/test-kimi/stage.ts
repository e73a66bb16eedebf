import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Vendor, VendorSession } from "@acp-steering/kit";
import { steeringAgent } from "@acp-steering/kit";
import { WireClient } from "@acp-steering/testkit";
import { type ModelServer, type Script, startModelServer } from "@acp-steering/testkit/model-server";
import { afterAll, beforeAll, onTestFinished } from "vitest";
import { ensureVendor } from "../../../scripts/vendors.mjs";
import { kimiVendor } from "../src/kimi-vendor.js";
import { type ModelRelay, startModelRelay } from "./model-relay.js";

const CLI = fileURLToPath(new URL("../dist/cli.js", import.meta.url));

/** Settings for a scripted model in a home of Kimi's; `extra` stands before the tables. */
export async function configureKimi(home: string, modelUrl: string, extra = ""): Promise<void> {
  await writeFile(
    join(home, "config.toml"),
    `default_model = "scripted"
telemetry = false
${extra}
[providers.local]
type = "openai"
base_url = "${modelUrl}"
api_key = "sk-none"

[models.scripted]
provider = "local"
model = "scripted-model"
max_context_size = 200000
capabilities = ["tool_use", "image_in", "thinking"]

[models.other]
provider = "local"
model = "other-model"
max_context_size = 100000
capabilities = ["tool_use"]
`,
  );
}

export async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "acp-steering-kimi-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));
  return folder;
}

interface Stage {
  readonly model: ModelServer;
  readonly client: WireClient;
  readonly cwd: string;
  readonly home: string;
  readonly sessionId: string;
  readonly verdicts: Verdicts;
}

/** What became of the steers that were handed to the adapter, in order. */
class Verdicts {
  readonly all: string[] = [];
  readonly #waiters = new Set<() => void>();

  /** Resolves when there are that many: Kimi has the steers then. */
  async reach(count: number): Promise<void> {
    while (this.all.length < count) await new Promise<void>((resolve) => this.#waiters.add(resolve));
  }

  /** The same vendor, whose new sessions have their verdicts written down. */
  watchAll(vendor: Vendor): Vendor {
    const open = async (request: Parameters<Vendor["open"]>[0]): Promise<VendorSession> =>
      this.#watch(await vendor.open(request));
    return new Proxy(vendor, {
      get: (target, name) => {
        const member = Reflect.get(target, name, target);
        if (name === "open") return open;
        return typeof member === "function" ? member.bind(target) : member;
      },
    });
  }

  #watch<Session extends VendorSession>(session: Session): Session {
    const steer = session.steer?.bind(session);
    session.steer = async (message) => {
      const verdict = await steer?.(message);
      this.all.push(String(verdict));
      for (const resolve of this.#waiters) resolve();
      this.#waiters.clear();
      return verdict ?? "unsupported";
    };
    return session;
  }
}

interface StageOptions {
  readonly clientCapabilities?: Record<string, unknown>;
  /** Part of `session/new`. */
  readonly session?: Record<string, unknown>;
}

const RECEIPTS = { _meta: { steering: { receipts: true } } };

/** How a test begins: with a scripted model and one session open. */
export type OpenStage = (script: Script, options?: StageOptions) => Promise<Stage>;

/** One Kimi for all tests of a file, since it takes seconds to start; each has a model and a session of its own. */
export function sharedKimi(): { openStage: OpenStage } {
  let relay: ModelRelay;
  let home: string;
  let vendor: Vendor;
  beforeAll(async () => {
    relay = await startModelRelay();
    home = await mkdtemp(join(tmpdir(), "acp-steering-kimi-"));
    await configureKimi(home, relay.url);
    vendor = await realKimi(home);
  });
  afterAll(async () => {
    await vendor.dispose?.();
    await relay.close();
    await rm(home, { recursive: true, force: true, maxRetries: 5 });
  });
  return {
    openStage: async (script, options) => {
      const model = await startModelServer({ script });
      onTestFinished(() => model.close());
      relay.pointTo(model.url);
      return play({ vendor, model, home }, options);
    },
  };
}

/** A Kimi of its own for one test. */
export const openStage: OpenStage = async (script, options) => {
  const { model, home } = await startModel(script);
  const vendor = await realKimi(home);
  onTestFinished(() => vendor.dispose?.());
  return play({ vendor, model, home }, options);
};

async function play(
  { vendor, model, home }: Pick<Stage, "model" | "home"> & { readonly vendor: Vendor },
  { clientCapabilities, session }: StageOptions = {},
): Promise<Stage> {
  const verdicts = new Verdicts();
  const client = connectTo(verdicts.watchAll(vendor));
  await client.initialize({ ...RECEIPTS, ...clientCapabilities });
  const cwd = await temporaryFolder();
  const { sessionId } = await client.request<{ sessionId: string }>("session/new", { cwd, mcpServers: [], ...session });
  return { model, client, cwd, home, sessionId, verdicts };
}

export async function startModel(script: Script): Promise<{ model: ModelServer; home: string }> {
  const model = await startModelServer({ script });
  onTestFinished(() => model.close());
  const home = await temporaryFolder();
  await configureKimi(home, model.url);
  return { model, home };
}

/** The adapter over the real Kimi, in this process; whoever takes it disposes of it. */
export async function realKimi(home: string): Promise<Vendor> {
  const kimi = { kimi: await ensureVendor("kimi"), node: await ensureVendor("node24") };
  return kimiVendor({ ...kimi, home, log: () => {} });
}

/** A client of its own; its sessions end with the test. */
export function connectTo(vendor: Vendor): WireClient {
  const client = WireClient.connect(steeringAgent(vendor));
  onTestFinished(async () => {
    await client.close();
  });
  return client;
}

/** How an editor starts the built adapter with the real Kimi. */
export async function adapterCommand(home: string): Promise<{ command: string; args: string[] }> {
  const kimi = ["--kimi", await ensureVendor("kimi"), "--node", await ensureVendor("node24")];
  return { command: process.execPath, args: [CLI, "--home", home, ...kimi] };
}

/** The built adapter as a process, over stdio; nothing was sent to it yet. */
export async function spawnAdapter(home: string): Promise<WireClient> {
  const client = await WireClient.spawn({ ...(await adapterCommand(home)), env: process.env });
  onTestFinished(async () => {
    await client.close();
  });
  return client;
}

/** What the user told the model, request by request, without Kimi's reminders to it. */
export function userTexts(model: ModelServer): string[][] {
  return model.requests.map(({ messages }) =>
    messages
      .filter(({ role, text }) => role === "user" && !text.startsWith("<system-reminder>"))
      .map(({ text }) => text),
  );
}

/** The final states of steers that the client was told, by message id. */
export function receipts(client: WireClient): Record<string, unknown>[] {
  return client.log
    .filter(({ direction, message }) => direction === "in" && message?.method === "_session/steering/update")
    .map(({ message }) => message?.params as Record<string, unknown>)
    .filter(({ state }) => state === "delivered" || state === "undelivered");
}
