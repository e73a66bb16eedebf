import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { run } from "./command.js";
import { install } from "./folder.js";

/** What users import and hosts compare. Each change here is a change for them: a major, or a minor that only adds. */
const EXPORTS = {
  "@acp-steering/core": ["steering"],
  "@acp-steering/core/protocol": ["CODE", "META_KEY", "METHOD", "REASON", "STOP", "UPDATE", "WORK_UPDATE"],
  "@acp-steering/kit": ["VendorError", "serveStdio", "steeringAgent"],
  "@acp-steering/kit/adapter": [
    "SteerGate",
    "UsageError",
    "currentText",
    "isRecord",
    "listOf",
    "logAs",
    "numberOf",
    "parseFlags",
    "recordOf",
    "runCommand",
    "secondsOf",
    "textOf",
    "whenStuck",
    "withTimeout",
  ],
  "@acp-steering/kit/process": [
    "ExecutableNotFoundError",
    "LineReader",
    "LineTooLongError",
    "StderrTail",
    "findExecutable",
    "spawnChild",
    "whenMute",
  ],
  "@acp-steering/testkit": [
    "CheckError",
    "DIALECT_NAMES",
    "DRIVER_SUPPORTS",
    "REQUIREMENTS",
    "SceneError",
    "StepQueue",
    "WireClient",
    "WireError",
    "check",
    "conformance",
    "modelServerRig",
    "playScene",
    "referenceAgent",
    "shellToolbox",
    "startSceneModel",
    "verifies",
    "writeProject",
  ],
  "@acp-steering/testkit/model-server": [
    "DIALECT_NAMES",
    "ModelServerError",
    "agentEnvironment",
    "isTold",
    "occurrencesOf",
    "parseScript",
    "shellCall",
    "startModelServer",
  ],
  "@acp-steering/proxy": ["PROXY_EXIT", "REASON", "STRATEGIES", "chooseStrategy", "createProxy", "runProxy"],
  "@acp-steering/hermes": ["HermesNotFoundError", "hermesVendor"],
  "@acp-steering/kimi": ["KimiTurns", "agentSdkConversation", "kimiVendor", "sdkConversation"],
  "@acp-steering/subprocess": [
    "claudeStreamJson",
    "codexAppServer",
    "meetAgent",
    "piRpc",
    "steerJsonl",
    "subprocessVendor",
  ],
} as const;

const CODES = {
  invalidRequest: -32600,
  invalidParams: -32602,
  internalError: -32603,
  authRequired: -32000,
  notFound: -32002,
  requestCancelled: -32800,
};

const REASONS = {
  noRunningTurn: "noRunningTurn",
  unsupportedContent: "unsupportedContent",
  tooManyPending: "tooManyPending",
  alreadyDelivered: "alreadyDelivered",
  unknownMessage: "unknownMessage",
  agentStuck: "agentStuck",
  busy: "busy",
};

const METHODS = {
  steering: "_session/steering",
  revoke: "_session/steering/revoke",
  receipt: "_session/steering/update",
};

let folder = "";

beforeAll(async () => {
  folder = await install(
    "@acp-steering/core",
    "@acp-steering/kit",
    "@acp-steering/testkit",
    "@acp-steering/proxy",
    "@acp-steering/hermes",
    "@acp-steering/kimi",
    "@acp-steering/subprocess",
  );
});

async function valuesOf(specifier: string): Promise<Record<string, unknown>> {
  const program = join(folder, "values.mjs");
  await writeFile(
    program,
    `console.log(JSON.stringify({ ...(await import(${JSON.stringify(specifier)})) }, (_, value) => typeof value === "function" ? "function" : value))`,
  );
  return JSON.parse((await run("node", [program], { cwd: folder })).stdout) as Record<string, unknown>;
}

test.each(Object.entries(EXPORTS))("%s exports what it did", async (specifier, names) => {
  expect(Object.keys(await valuesOf(specifier)).sort()).toEqual(names);
});

test("codes, reasons and methods are what hosts compare them with", async () => {
  const { CODE, REASON, METHOD, META_KEY } = await valuesOf("@acp-steering/core/protocol");
  expect(CODE).toEqual(CODES);
  expect(REASON).toMatchObject(REASONS);
  expect(METHOD).toMatchObject(METHODS);
  expect(META_KEY).toBe("steering");
});

test("the schemas of core are where they were", async () => {
  const { exports } = JSON.parse(await readFile(join(folder, "node_modules/@acp-steering/core/package.json"), "utf8"));
  expect(Object.keys(exports)).toEqual(expect.arrayContaining([".", "./protocol", "./schema/*.json"]));
  const schema = join(folder, "node_modules/@acp-steering/core/schema/steering-request.json");
  expect(JSON.parse(await readFile(schema, "utf8"))).toMatchObject({
    $schema: expect.stringContaining("json-schema.org"),
  });
});
