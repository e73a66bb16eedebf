import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { captureNode, say, toolScript, workspacePackages } from "./repository.mjs";

/**
 * Looks at each published package as a user of it gets it: packed, so with the exports of `publishConfig`.
 *
 * @returns {Promise<boolean>} whether all are fine
 */
export async function checkPackages() {
  let isFine = true;
  for (const { folder, name } of workspacePackages().filter(({ isPublished }) => isPublished)) {
    if (!(await isPackageFine(folder))) {
      say(`${name}: its packed form has the faults above.`);
      isFine = false;
    }
  }
  return isFine;
}

/**
 * @param {string} folder
 * @returns {Promise<boolean>}
 */
async function isPackageFine(folder) {
  const destination = mkdtempSync(join(tmpdir(), "acp-steering-pack-"));
  try {
    const packing = [toolScript("pnpm"), "pack", "--pack-destination", destination];
    if (!(await passes(packing, folder))) {
      return false;
    }
    const tarball = join(destination, readdirSync(destination)[0] ?? "");
    const attw = [toolScript("@arethetypeswrong/cli", "attw"), tarball, "--profile", "esm-only", "--format", "ascii"];
    const publint = [toolScript("publint"), "run", tarball, "--strict"];
    return (await passes(attw, folder)) && (await passes(publint, folder));
  } finally {
    rmSync(destination, { recursive: true, force: true });
  }
}

/**
 * @param {readonly string[]} commandLine
 * @param {string} cwd
 * @returns {Promise<boolean>}
 */
async function passes(commandLine, cwd) {
  const { code, output } = await captureNode(commandLine, { cwd });
  if (code !== 0) {
    say(output);
  }
  return code === 0;
}
