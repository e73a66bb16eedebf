import { spawnChild } from "../packages/steering-kit/src/process/index.js";
import { LineReader } from "../packages/steering-kit/src/process/line-reader.js";
import { ownEnvironment } from "./command.js";

export interface InitializeResult {
  readonly agentInfo?: { readonly name: string; readonly version: string };
  readonly _meta?: { readonly steering?: unknown };
}

/** Starts an agent and resolves with its answer to `initialize`. */
export async function firstAnswer(command: string, args: readonly string[], cwd: string): Promise<InitializeResult> {
  const child = await spawnChild({ command, args, cwd, env: ownEnvironment() });
  const request = { jsonrpc: "2.0", id: 1, method: "initialize", params: { protocolVersion: 1 } };
  child.stdin.write(`${JSON.stringify(request)}\n`);
  let said = "";
  child.stderr.on("data", (chunk) => {
    said += String(chunk);
  });
  const lines = new LineReader();
  try {
    for await (const chunk of child.stdout) {
      const [line] = lines.push(chunk as Buffer);
      if (line !== undefined) return (JSON.parse(line) as { result: InitializeResult }).result;
    }
    throw new Error(`${command} ended before it answered: ${said}`);
  } finally {
    await child.stop();
  }
}
