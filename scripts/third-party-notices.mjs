// Run by a package's build, in its folder, after tsup with `metafile: true`: writes the licences of the code that was bundled.
import { readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

const METAFILE = "dist/metafile-esm.json";
const NOTICES = "dist/THIRD-PARTY-NOTICES.txt";
const RULE = "-".repeat(80);

const { inputs } = JSON.parse(readFileSync(METAFILE, "utf8"));
const folders = new Set(Object.keys(inputs).filter(isThirdParty).map(packageFolder));
const notices = [...folders].map(notice).sort();
writeFileSync(
  NOTICES,
  [`The files of this folder contain code of the following packages.\n`, ...notices].join(`\n${RULE}\n\n`),
);
// It holds the paths of the machine that built, and is of no use to whoever installs.
rmSync(METAFILE);

/**
 * @param {string} input
 * @returns {boolean}
 */
function isThirdParty(input) {
  return input.split("/").includes("node_modules");
}

/**
 * @param {string} input a bundled file
 * @returns {string} the nearest folder above it whose package.json has a name
 */
function packageFolder(input) {
  let folder = dirname(realpathSync(resolve(input)));
  while (!hasName(folder)) {
    folder = dirname(folder);
  }
  return folder;
}

/**
 * @param {string} folder
 * @returns {boolean}
 */
function hasName(folder) {
  if (!readdirSync(folder).includes("package.json")) {
    return false;
  }
  const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  // Some packages mark a subfolder with a package.json of its own, without a version.
  return manifest.name !== undefined && manifest.version !== undefined;
}

/**
 * @param {string} folder
 * @returns {string}
 */
function notice(folder) {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const texts = readdirSync(folder)
    .filter((file) => /^(licen[cs]e|notice|copying)/i.test(file))
    .sort()
    .map((file) => readFileSync(join(folder, file), "utf8").trim());
  if (texts.length === 0) {
    throw new Error(`${name} ${version} is bundled and has no licence file: add its text by hand or do not bundle it.`);
  }
  return `${name} ${version} (${license})\n\n${texts.join("\n\n")}\n`;
}
