import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { type Registry, startRegistry } from "./registry.js";
import { copyWorkspace, release } from "./workspace-copy.js";

declare module "vitest" {
  interface ProvidedContext {
    /** The registry that has the first version of every package. */
    readonly registry: string;
    /** `.npmrc` of those who publish to it. */
    readonly npmrc: string;
    /** The copy of the repository that was released. */
    readonly repository: string;
  }
}

let tidy = async (): Promise<void> => {};

/** Starts the registry and publishes every package to it with the release command, from a copy of the repository. */
export async function setup(project: TestProject): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "acp steering install "));
  tidy = () => rm(folder, { recursive: true, force: true });
  const registry = await startRegistry(join(folder, "registry"));
  tidy = async () => {
    await registry.stop();
    await rm(folder, { recursive: true, force: true });
  };
  try {
    await publish(project, registry, folder);
  } catch (error) {
    await tidy();
    throw error;
  }
}

async function publish(project: TestProject, registry: Registry, folder: string): Promise<void> {
  const repository = join(folder, "repository");
  const npmrc = join(folder, ".npmrc");
  await copyWorkspace(repository);
  await writeFile(npmrc, registry.npmrc);
  await release(repository, registry.url, npmrc);
  project.provide("registry", registry.url);
  project.provide("npmrc", npmrc);
  project.provide("repository", repository);
}

export const teardown = (): Promise<void> => tidy();
