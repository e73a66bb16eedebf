import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { AgentCommand } from "./host.js";
import { SceneError } from "./scene-event.js";
import type { Toolbox, ToolboxFor } from "./toolbox.js";

interface VendorsScript {
  ensureVendor(name: string): Promise<string>;
}

/**
 * Finds the real Pi, installing it into the repository where it is missing (progress on stderr), and configures it for the
 * model server, all inside `folder`.
 *
 * @param root the repository's root, whose `scripts/vendors.mjs` and built adapter are used
 * @param folder an existing folder for the configuration; the user's own stays untouched
 * @throws SceneError `setup`
 */
export async function setUpPi(root: string, folder: string, modelUrl: string): Promise<AgentCommand> {
  const adapter = join(root, "packages", "adapter-subprocess", "dist", "cli.js");
  if (!existsSync(adapter)) {
    throw new SceneError(
      "setup",
      "The adapter is not built. Run `npm start` in a clone of the repository, which builds it.",
    );
  }
  const pi = await findPi(root);
  const configuration = join(folder, "pi-configuration");
  await configure(configuration, modelUrl);
  return {
    command: process.execPath,
    args: [adapter, "--dialect", "pi-rpc", "--", pi, "--mode", "rpc"],
    cwd: folder,
    env: { ...process.env, PI_CODING_AGENT_DIR: configuration, PI_OFFLINE: "1" },
  };
}

/** Pi's own tools, which show as reads and edits with their files and diffs. */
export const piToolbox: ToolboxFor = (request) => {
  const offered = request.tools.map(({ name }) => name);
  return ["read", "edit", "bash"].every((name) => offered.includes(name)) ? toolbox : undefined;
};

const toolbox: Toolbox = {
  list: () => toolbox.run("ls *"),
  read: (path) => ({ name: "read", arguments: { path } }),
  rewrite: (path, oldText, newText) => ({ name: "edit", arguments: { path, edits: [{ oldText, newText }] } }),
  run: (command) => ({ name: "bash", arguments: { command } }),
};

async function findPi(root: string): Promise<string> {
  try {
    const vendors: VendorsScript = await import(pathToFileURL(join(root, "scripts", "vendors.mjs")).href);
    return await vendors.ensureVendor("pi");
  } catch (error) {
    const next = "Check that the npm registry can be reached, then run it again.";
    throw new SceneError("setup", `Pi could not be installed: ${(error as Error).message} ${next}`, { cause: error });
  }
}

async function configure(folder: string, modelUrl: string): Promise<void> {
  const model = { id: "scripted", input: ["text", "image"], reasoning: true };
  const provider = { baseUrl: modelUrl, api: "openai-completions", apiKey: "none", models: [model] };
  const settings = { defaultProvider: "scripted", defaultModel: "scripted", quietStartup: true };
  await mkdir(folder);
  await writeFile(join(folder, "models.json"), JSON.stringify({ providers: { scripted: provider } }));
  await writeFile(join(folder, "settings.json"), JSON.stringify(settings));
}
