import { readdir, readFile } from "node:fs/promises";
import { isBuiltin } from "node:module";
import { dirname, join, relative } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { install, sizeOf } from "./folder.js";

/** What a package may hold beside `dist`, README, CHANGELOG, LICENSE and package.json; and how large it may be, in bytes. */
const PACKAGES = {
  "@acp-steering/core": { extra: ["schema"], ceiling: 150_000 },
  "@acp-steering/kit": { extra: [], ceiling: 600_000 },
  "@acp-steering/testkit": { extra: [], ceiling: 2_000_000 },
  "@acp-steering/proxy": { extra: [], ceiling: 300_000 },
  "@acp-steering/hermes": { extra: ["bridge", "agent.json"], ceiling: 400_000 },
  "@acp-steering/kimi": { extra: ["agent.json"], ceiling: 300_000 },
  "@acp-steering/subprocess": { extra: ["docs", "examples", "schema"], ceiling: 500_000 },
  "acp-steer": { extra: [], ceiling: 300_000 },
} as const;

const ALWAYS = ["dist", "README.md", "CHANGELOG.md", "LICENSE", "package.json"];

let folder = "";

beforeAll(async () => {
  folder = await install(...Object.keys(PACKAGES));
});

async function filesOf(root: string): Promise<string[]> {
  const entries = await readdir(root, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(root, join(entry.parentPath, entry.name)).replaceAll("\\", "/"));
}

describe.each(Object.entries(PACKAGES))("%s, as it is installed", (name, { extra, ceiling }) => {
  const root = (): string => join(folder, "node_modules", name);

  test("holds what a user needs and nothing else", async () => {
    const tops = new Set((await filesOf(root())).map((file) => file.split("/")[0]));
    expect([...tops].filter((top) => top && ![...ALWAYS, ...extra].includes(top))).toEqual([]);
    for (const top of ALWAYS) expect(tops).toContain(top);
  });

  test("stays below its ceiling", async () => {
    expect(await sizeOf(root())).toBeLessThanOrEqual(ceiling);
  });

  test("names no source map and no file that is not there, and no path of a machine", async () => {
    for (const file of (await filesOf(root())).filter((path) => /\.(m?js|d\.ts|json|md|py)$/.test(path))) {
      const text = await readFile(join(root(), file), "utf8");
      expect(text, file).not.toMatch(/sourceMappingURL=(?!data:)/);
      expect(text, file).not.toMatch(/(?<![\w.~-])\/(home|Users|root|work)\/[a-z]/);
    }
  });

  test("needs only what it declares", async () => {
    const manifest = JSON.parse(await readFile(join(root(), "package.json"), "utf8"));
    const declared = Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies });
    for (const file of (await filesOf(root())).filter((path) => path.endsWith(".js"))) {
      const text = await readFile(join(root(), file), "utf8");
      for (const [, specifier = ""] of text.matchAll(/^(?:import|export)[^'"]*?from "([^".][^"]*)";?$/gm)) {
        if (isBuiltin(specifier)) continue;
        const [scope = "", rest = ""] = specifier.split("/");
        const wanted = scope.startsWith("@") ? `${scope}/${rest}` : scope;
        expect([...declared, name], `${file} imports ${specifier}`).toContain(wanted);
      }
    }
  });

  test("says who may use it and on what, and has no workspace range", async () => {
    const text = await readFile(join(root(), "package.json"), "utf8");
    const manifest = JSON.parse(text);
    expect(manifest).toMatchObject({ license: "Apache-2.0", type: "module", engines: { node: ">=20.19" } });
    expect(text).not.toContain("workspace:");
    expect(text).not.toContain("@acp-steering/source");
    for (const path of Object.values<string>(manifest.bin ?? {})) {
      expect(await readFile(join(root(), path), "utf8")).toMatch(/^#!\/usr\/bin\/env node\n/);
    }
    for (const path of Object.values(manifest.exports ?? {}).flatMap((entry) =>
      typeof entry === "string" ? [entry] : Object.values<string>(entry as never),
    )) {
      if (path.includes("*")) continue;
      expect(await readdir(dirname(join(root(), path))), path).toContain(path.split("/").at(-1));
    }
  });
});
