import { mkdir, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { LineReader, type SpawnedChild, spawnChild } from "../packages/steering-kit/src/process/index.js";
import { ensureVendor } from "../scripts/vendors.mjs";
import { ownEnvironment, run } from "./command.js";

/** A package registry on loopback: ours live in it, all others come from the registry that npm is set up with. */
export interface Registry {
  readonly url: string;
  /** What a client needs in `.npmrc` to publish. */
  readonly npmrc: string;
  stop(): Promise<void>;
}

/** @param folder where it keeps what is published */
export async function startRegistry(folder: string): Promise<Registry> {
  const executable = await ensureVendor("verdaccio");
  const port = await freePort();
  const url = `http://127.0.0.1:${port}/`;
  await mkdir(folder, { recursive: true });
  // JSON is YAML, which it wants.
  const config = join(folder, "config.yaml");
  await writeFile(config, JSON.stringify(await configuration(folder)));
  const server = await spawnChild({
    command: executable,
    args: ["--config", config, "--listen", `127.0.0.1:${port}`],
    cwd: folder,
    env: ownEnvironment(),
  });
  server.stderr.resume();
  await listening(server);
  server.stdout.resume();
  const npmrc = `registry=${url}\n//127.0.0.1:${port}/:_authToken=${await register(url)}\n`;
  return { url, npmrc, stop: () => server.stop() };
}

async function listening({ stdout }: SpawnedChild): Promise<void> {
  const lines = new LineReader();
  const said: string[] = [];
  for await (const chunk of stdout.iterator({ destroyOnReturn: false })) {
    for (const line of lines.push(chunk as Buffer)) {
      if (line.includes("http address")) return;
      said.push(line);
    }
  }
  throw new Error(`The registry ended before it listened:\n${said.join("\n")}`);
}

async function configuration(folder: string): Promise<unknown> {
  const { stdout } = await run("npm", ["config", "get", "registry"], { cwd: folder });
  const everybody = { access: "$all", publish: "$authenticated" };
  return {
    storage: join(folder, "storage"),
    auth: { htpasswd: { file: join(folder, "users") } },
    uplinks: { upstream: { url: stdout.trim(), maxage: "1h", timeout: "60s" } },
    packages: {
      "@acp-steering/*": everybody,
      "acp-steer": everybody,
      "**": { access: "$all", proxy: "upstream" },
    },
    log: { type: "stdout", format: "json", level: "warn" },
  };
}

/** A user who may publish; the token is theirs. */
async function register(url: string): Promise<string> {
  const user = { name: "publisher", password: crypto.randomUUID() };
  const answer = await fetch(`${url}-/user/org.couchdb.user:${user.name}`, {
    method: "PUT",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(user),
  });
  return ((await answer.json()) as { token: string }).token;
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address ? address.port : 0));
    });
  });
}
