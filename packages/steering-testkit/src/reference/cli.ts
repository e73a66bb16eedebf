#!/usr/bin/env node
import { parseArgs } from "node:util";
import { serveStdio } from "@acp-steering/kit";
import { bareAgent } from "./bare-agent.js";
import { breakAgent } from "./broken/broken-agent.js";
import { BROKEN_AGENTS } from "./broken/index.js";
import { chatModel } from "./chat-model.js";
import { ROADS, type Road } from "./reference-agent.js";

const USAGE = `Usage: reference-agent [options]

A small coding agent that can be steered, over ACP on stdin and stdout. It asks the OpenAI-compatible model at
OPENAI_BASE_URL (with OPENAI_API_KEY and OPENAI_MODEL, where the service wants them).

  --road inbox     the agent takes steers itself, before each question to the model (default)
  --road driver    a driver puts steers into a queue of the agent
  --road none      no steering at all: what a layer is put in front of
  --broken ID      break one requirement, e.g. G1.boundary, and keep all others
  --list-broken    show which requirements can be broken, and how
  --help           show this
`;

/** The agent as it is before anybody makes it steerable. */
const NO_ROAD = "none";

/** A mistake of whoever typed the command: shown without a stack, exit code 2. */
class UsageError extends Error {}

interface Arguments {
  readonly road: string;
  readonly broken?: string;
  readonly "list-broken": boolean;
  readonly help: boolean;
}

function readArguments(): Arguments {
  try {
    const { values } = parseArgs({
      options: {
        road: { type: "string", default: "inbox" },
        broken: { type: "string" },
        "list-broken": { type: "boolean", default: false },
        help: { type: "boolean", short: "h", default: false },
      },
    });
    return values as Arguments;
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

async function run(): Promise<void> {
  const values = readArguments();
  if (values.help) return void process.stdout.write(USAGE);
  if (values["list-broken"]) return void process.stdout.write(listOfBroken());
  await serveStdio(agentFor(values));
  process.exit();
}

function agentFor({ road, broken }: Arguments): Parameters<typeof serveStdio>[0] {
  if (!isRoad(road) && road !== NO_ROAD)
    throw new UsageError(`--road takes ${[...Object.keys(ROADS), NO_ROAD].join(" or ")}, not "${road}".`);
  const { OPENAI_BASE_URL: modelUrl, OPENAI_API_KEY: apiKey, OPENAI_MODEL: modelName } = process.env;
  if (!modelUrl)
    throw new UsageError("Set OPENAI_BASE_URL to the base URL of the model, e.g. http://127.0.0.1:8080/v1.");
  const askModel = chatModel({ modelUrl, ...(apiKey && { apiKey }), ...(modelName && { modelName }) });
  if (road === NO_ROAD) return bareAgent(askModel);
  if (broken === undefined) return ROADS[road](askModel);
  const found = BROKEN_AGENTS.find(({ requirement }) => requirement === broken);
  if (!found) throw new UsageError(`Nothing breaks "${broken}". See --list-broken.`);
  return breakAgent(found, road, askModel);
}

const isRoad = (road: string): road is Road => Object.hasOwn(ROADS, road);

function listOfBroken(): string {
  return BROKEN_AGENTS.map(({ requirement, what }) => `${requirement.padEnd(20)} ${what}\n`).join("");
}

try {
  await run();
} catch (error) {
  if (!(error instanceof UsageError)) throw error;
  process.stderr.write(`${error.message}\nreference-agent --help shows how it is used.\n`);
  process.exitCode = 2;
}
