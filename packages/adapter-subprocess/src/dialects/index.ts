import type { Dialect } from "../dialect.js";
import { claudeStreamJson } from "./claude-stream-json.js";
import { codexAppServer } from "./codex-app-server.js";
import { piRpc } from "./pi-rpc.js";
import { steerJsonl } from "./steer-jsonl.js";

/** Every dialect that `--dialect` knows. */
export const DIALECTS: readonly Dialect[] = [claudeStreamJson, codexAppServer, piRpc, steerJsonl];

export function findDialect(name: string): Dialect | undefined {
  return DIALECTS.find((dialect) => dialect.name === name);
}
