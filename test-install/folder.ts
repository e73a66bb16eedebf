import { mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, inject } from "vitest";
import { type Output, run } from "./command.js";

const FOLDERS: string[] = [];

afterAll(async () => {
  for (const folder of FOLDERS) await rm(folder, { recursive: true, force: true });
});

/** An empty folder of a user, with a space in its path, that goes with the tests of the file. */
export async function emptyFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "a user of acp "));
  FOLDERS.push(folder);
  return folder;
}

/** Plain npm, with the registry of the tests and a cache that nobody else filled. */
export function npm(folder: string, ...args: string[]): Promise<Output> {
  const options = ["--registry", inject("registry"), "--no-audit", "--no-fund", "--loglevel", "error"];
  return run("npm", [...args, ...options], { cwd: folder });
}

/** `npm install` of packages into an empty folder of a user. */
export async function install(...packages: string[]): Promise<string> {
  const folder = await emptyFolder();
  await writeFile(join(folder, "package.json"), JSON.stringify({ type: "module", private: true }));
  await npm(folder, "install", ...packages);
  return folder;
}

interface Lockfile {
  readonly packages: Readonly<Record<string, { readonly version?: string; readonly optional?: boolean }>>;
}

/** What npm installed: versions by package name. */
export async function installed(folder: string): Promise<Record<string, string>> {
  const lockfile = JSON.parse(await readFile(join(folder, "package-lock.json"), "utf8")) as Lockfile;
  const entries = Object.entries(lockfile.packages).filter(([path]) => path !== "");
  return Object.fromEntries(
    entries.map(([path, { version = "" }]) => [path.replace(/^.*node_modules\//, ""), version]),
  );
}

/** Bytes of all files below. */
export async function sizeOf(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const sizes = entries.map(async (entry) =>
    entry.isFile() ? (await stat(join(entry.parentPath, entry.name))).size : 0,
  );
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}
