import { existsSync } from "node:fs";
import { cp } from "node:fs/promises";
import { join } from "node:path";
import { ROOT, toolScript } from "../scripts/repository.mjs";
import { run } from "./command.js";

/** A repository of its own with what git knows or would know of this one, and what was built of it. */
export async function copyWorkspace(folder: string): Promise<void> {
  const git = (...args: string[]) => run("git", args, { cwd: folder });
  const { stdout } = await run("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], { cwd: ROOT });
  const files = stdout.split("\0").filter((file) => file !== "" && existsSync(join(ROOT, file)));
  for (const file of files) await cp(join(ROOT, file), join(folder, file));
  await cp(join(ROOT, ".turbo", "cache"), join(folder, ".turbo", "cache"), { recursive: true, force: true });
  await git("init", "--quiet", "--initial-branch=main");
  await commitAll(folder, "Begin");
}

export async function commitAll(folder: string, message: string): Promise<void> {
  const who = ["-c", "user.name=Release", "-c", "user.email=release@example.invalid"];
  await run("git", ["add", "--all"], { cwd: folder });
  await run("git", [...who, "commit", "--quiet", "--message", message], { cwd: folder });
}

/** `npm run release`, as the release workflow runs it, with a registry of ours. */
export async function release(repository: string, registry: string, npmrc: string): Promise<string> {
  if (new URL(registry).hostname !== "127.0.0.1") throw new Error(`${registry} is not a registry of a test.`);
  const env = { npm_config_registry: registry, npm_config_userconfig: npmrc };
  const { stdout } = await run("npm", ["run", "release"], { cwd: repository, env });
  return stdout;
}

/** A tool of the workspace, run in a copy of it. */
export const runTool = (repository: string, tool: string, binary: string, args: readonly string[]) =>
  run(process.execPath, [toolScript(tool, binary), ...args], { cwd: repository });
