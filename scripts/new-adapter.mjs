import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { prepare } from "./bootstrap.mjs";
import { main } from "./main.mjs";
import { ROOT, runNode, say, toolScript } from "./repository.mjs";

const TEMPLATE = join(ROOT, "scripts", "adapter-template");
const SUFFIX = ".template";

// Begins an adapter: a package that builds, runs and passes the conformance suite, with a stand-in for the agent's part.
await main(async () => {
  await prepare();
  const [name = "", title = name] = process.argv.slice(2);
  if (!/^[a-z][a-z0-9]*(-[a-z0-9]+)*$/.test(name)) {
    throw new Error(
      'Give the name of the agent in kebab-case, and its title: npm run new-adapter -- my-agent "My Agent"',
    );
  }
  const folder = join(ROOT, "packages", `adapter-${name}`);
  if (existsSync(folder)) {
    throw new Error(`${relative(ROOT, folder)} exists already.`);
  }
  for (const entry of readdirSync(TEMPLATE, { recursive: true, encoding: "utf8" })) {
    if (!entry.endsWith(SUFFIX)) {
      continue;
    }
    const target = join(folder, filled(entry.slice(0, -SUFFIX.length), name, title));
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, filled(readFileSync(join(TEMPLATE, entry), "utf8"), name, title));
  }
  say(`Wrote ${relative(ROOT, folder)}; linking it into the workspace …`);
  const linked = await runNode([toolScript("pnpm"), "install", "--prefer-offline", "--no-frozen-lockfile"]);
  return linked || runNode([toolScript("@biomejs/biome", "biome"), "check", "--write", folder]);
});

/**
 * @param {string} text
 * @param {string} name
 * @param {string} title
 */
function filled(text, name, title) {
  const camel = name.replaceAll(/-(.)/g, (_, letter) => letter.toUpperCase());
  const pascal = camel.charAt(0).toUpperCase() + camel.slice(1);
  return text
    .replaceAll("__NAME__", name)
    .replaceAll("__TITLE__", title)
    .replaceAll("__CAMEL__", camel)
    .replaceAll("__PASCAL__", pascal);
}
