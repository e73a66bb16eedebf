import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { type ModelBehind, startModelBehind } from "../cases/index.js";
import { agentEnvironment } from "../model-server/index.js";
import { REQUIREMENTS } from "../requirements/requirements.js";
import { Activity } from "./activity.js";
import type { AgentSetup } from "./agent.js";
import { AgentPool } from "./agent-pool.js";
import { CheckError, type CheckOptions, DEFAULT_LIMITS } from "./check-options.js";
import { Leftovers } from "./leftovers.js";
import { Patience } from "./patience.js";
import type { Setting } from "./setting.js";

/** A setting, and the end of everything that belongs to it. */
export interface OwnedSetting extends Setting {
  end(): Promise<void>;
}

/** Until the agent has shown how fast it is. */
const FIRST_QUIET_MS = 300;

/**
 * Prepares everything but the agent itself.
 *
 * @throws CheckError `setup`
 */
export async function setUp(options: CheckOptions): Promise<OwnedSetting> {
  assertSense(options);
  const ownFolder = options.cwd === undefined ? await mkdtemp(join(tmpdir(), "acp-steer-check-")) : undefined;
  const sessionFolder = ownFolder ?? (await existing(options.cwd ?? ""));
  const behind = options.modelServer === undefined ? undefined : await startModelBehind();
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  const activity = new Activity();
  behind?.onRequest(() => activity.touch());
  const leftovers = new Leftovers();
  const env = { ...process.env, ...environmentOf(options, behind), ...leftovers.environment };
  const args = (options.args ?? []).map((argument) => fillIn(argument, behind));
  const patience = new Patience(limits);
  const outputLimit = limits.output;
  const setup: AgentSetup = { command: options.command, args, env, sessionFolder, outputLimit, patience, activity };
  const pool = new AgentPool(setup);
  return {
    pool,
    activity,
    patience,
    sessionFolder,
    behind,
    quietMs: FIRST_QUIET_MS,
    end: async () => {
      await pool.end();
      leftovers.end();
      await behind?.close();
      if (ownFolder !== undefined) await rm(ownFolder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

function assertSense({ only = [], trials = 0 }: CheckOptions): void {
  const ids = REQUIREMENTS.map(({ id }): string => id);
  const unknown = only.find((id) => !ids.includes(id));
  if (unknown !== undefined) {
    throw new CheckError("setup", `There is no requirement "${unknown}". There are: ${ids.join(", ")}`);
  }
  if (!Number.isInteger(trials) || trials < 0) {
    throw new CheckError("setup", `The number of trials has to be a whole number, not ${trials}.`);
  }
}

async function existing(folder: string): Promise<string> {
  const found = await stat(folder).catch(() => undefined);
  if (found?.isDirectory() === true) return resolve(folder);
  throw new CheckError("setup", `The folder "${folder}" does not exist. Give an existing one as the sessions' folder.`);
}

function environmentOf(
  { modelServer, env = {} }: CheckOptions,
  behind: ModelBehind | undefined,
): Record<string, string> {
  const usual =
    modelServer === undefined || behind === undefined ? {} : agentEnvironment(modelServer, behind.model.url);
  const own = Object.entries(env).map(([name, value]) => [name, fillIn(value, behind)] as const);
  return { ...usual, ...Object.fromEntries(own) };
}

/** The model server's address, with and without its `/v1`: providers' SDKs differ in which of them they want. */
function fillIn(text: string, behind: ModelBehind | undefined): string {
  if (behind === undefined) return text;
  const { url } = behind.model;
  return text.replaceAll("{model-url}", url).replaceAll("{model-root}", url.replace(/\/v1$/, ""));
}
