import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, relative } from "node:path";
import { ROOT, runNode, toolScript, workspacePackages } from "./repository.mjs";

const FOLDER = join(ROOT, "node_modules", ".snippets");

/**
 * Type-checks every `ts` block of the READMEs and of every `docs/` as a program of its own, against what was built, as a user
 * would have it.
 *
 * @returns {Promise<boolean>} whether all compile; the name of a failing file says which page and which line
 */
export async function checkSnippets() {
  rmSync(FOLDER, { recursive: true, force: true });
  linkPackages();
  for (const page of pages()) {
    writeSnippets(page);
  }
  writeFileSync(join(FOLDER, "package.json"), JSON.stringify({ type: "module" }));
  writeFileSync(join(FOLDER, "index.ts"), "export {};\n");
  const compilerOptions = {
    customConditions: [],
    isolatedDeclarations: false,
    declaration: false,
    noUnusedLocals: false,
    // A user may check the types that a package ships.
    skipLibCheck: false,
    lib: ["ES2023", "DOM"],
  };
  writeFileSync(
    join(FOLDER, "tsconfig.json"),
    JSON.stringify({ extends: "../../tsconfig.base.json", compilerOptions, include: ["*.ts"] }),
  );
  return (await runNode([toolScript("typescript", "tsc"), "-p", FOLDER])) === 0;
}

/**
 * @param {string} markdown
 * @returns {{ line: number, code: string }[]} `line` is the first line of code, from 1
 */
export function snippetsOf(markdown) {
  return [...markdown.matchAll(/^```ts\r?\n([\s\S]*?)^```/gm)].map((match) => ({
    line: markdown.slice(0, match.index).split("\n").length + 1,
    code: match[1] ?? "",
  }));
}

/** @returns {string[]} absolute paths */
function pages() {
  const folders = [ROOT, ...workspacePackages().map(({ folder }) => folder)];
  const readmes = folders.map((folder) => join(folder, "README.md"));
  const docs = folders.map((folder) => join(folder, "docs")).filter((folder) => existsSync(folder));
  const inDocs = docs.flatMap((folder) => readdirSync(folder).map((name) => join(folder, name)));
  return [...readmes.filter((path) => existsSync(path)), ...inDocs.filter((path) => path.endsWith(".md"))];
}

/** @param {string} page */
function writeSnippets(page) {
  const name = relative(ROOT, page).replace(/\.md$/, "").replaceAll(/[\\/]/g, "-");
  for (const { line, code } of snippetsOf(readFileSync(page, "utf8"))) {
    // Without an import a file is no module, and two snippets would share their names.
    writeFileSync(join(FOLDER, `${name}-line-${line}.ts`), `${code}export {};\n`);
  }
}

/** The packages of the workspace and what their users install beside them. */
function linkPackages() {
  const sdk = "@agentclientprotocol/sdk";
  const testkit = join(ROOT, "packages", "steering-testkit", "node_modules", sdk);
  const links = [...workspacePackages().map(({ name, folder }) => [name, folder]), [sdk, realpathSync(testkit)]];
  for (const [name = "", target = ""] of links) {
    const link = join(FOLDER, "node_modules", name);
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(target, link, "junction");
  }
}
