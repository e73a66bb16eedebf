import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { prepare } from "./bootstrap.mjs";
import { main } from "./main.mjs";
import { peersPage } from "./peers-page.mjs";
import { ROOT, runNode, say, toolScript } from "./repository.mjs";
import { ensureVendor } from "./vendors.mjs";

const PAGE = join(ROOT, "docs", "peers.md");
const CLI = join(ROOT, "apps", "acp-steer", "dist", "cli.js");

/**
 * An agent that answers `_session/steering`, and how it is pointed at the scripted model. `{home}` is a folder in the
 * place of the user's own settings; `settings` becomes the file settings.json in it.
 *
 * @typedef {{
 *   title: string,
 *   vendor: "claude-agent-acp" | "codex-acp",
 *   modelServer: string,
 *   env: Readonly<Record<string, string>>,
 *   settings?: object,
 * }} Peer
 */

/** @type {readonly Peer[]} */
const PEERS = [
  {
    title: "claude-agent-acp",
    vendor: "claude-agent-acp",
    modelServer: "anthropic",
    // It asks before it runs a command only in this mode, and suggests the next prompt by asking its model once more.
    settings: { permissions: { defaultMode: "default" }, promptSuggestionEnabled: false },
    env: { CLAUDE_CONFIG_DIR: "{home}", CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1", DISABLE_AUTOUPDATER: "1" },
  },
  {
    title: "codex-acp",
    vendor: "codex-acp",
    modelServer: "openai-responses",
    env: {
      CODEX_HOME: "{home}",
      INITIAL_AGENT_MODE: "read-only",
      MODEL_PROVIDER: "scripted",
      CODEX_CONFIG: JSON.stringify({
        model: "scripted",
        model_provider: "scripted",
        model_providers: {
          scripted: { name: "scripted", base_url: "{model-url}", wire_api: "responses", env_key: "OPENAI_API_KEY" },
        },
      }),
    },
  },
];

await main(async () => {
  await prepare();
  const wanted = process.argv.slice(2);
  const peers = PEERS.filter(({ title }) => wanted.length === 0 || wanted.includes(title));
  const node = await ensureVendor("node24");
  const results = [];
  for (const peer of peers) {
    results.push({ peer, report: await checkPeer(peer, node) });
  }
  if (peers.length < PEERS.length) {
    say("The page is left as it is: not every peer was checked.");
    return 0;
  }
  await writeFile(PAGE, peersPage(results));
  await runNode([toolScript("@biomejs/biome", "biome"), "format", "--write", PAGE]);
  say("Wrote docs/peers.md.");
  return 0;
});

/**
 * @param {Peer} peer
 * @param {string} node
 * @returns {Promise<import("./peers-page.mjs").CheckReport>}
 */
async function checkPeer(peer, node) {
  const executable = await ensureVendor(peer.vendor);
  const folder = await mkdtemp(join(tmpdir(), "acp-steer-peer-"));
  try {
    const home = join(folder, "home");
    const json = join(folder, "report.json");
    await mkdir(home);
    await writeFile(join(home, "settings.json"), JSON.stringify(peer.settings ?? {}));
    say(`Checking ${peer.title} …`);
    const environment = Object.entries({ HOME: home, ...peer.env }).flatMap(([name, value]) => [
      "--env",
      `${name}=${value.replaceAll("{home}", home)}`,
    ]);
    const options = ["--model-server", peer.modelServer, "--json", json, ...environment];
    const code = await runNode([CLI, "check", ...options, "--", node, executable], { env: bareEnvironment() });
    if (code === 2) {
      throw new Error(`${peer.title} could not be checked. The reason is above.`);
    }
    return JSON.parse(await readFile(json, "utf8"));
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** Without what else this shell tells an agent about its user, its keys or its sandbox. */
function bareEnvironment() {
  const kept = ["PATH", "Path", "TMPDIR", "TEMP", "SystemRoot", "LANG"];
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => kept.includes(name)));
}
