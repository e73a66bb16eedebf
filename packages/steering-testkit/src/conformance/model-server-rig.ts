import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startModelBehind } from "../cases/model-behind.js";
import type { MakeRig, Rig } from "./rig.js";

/** Where an agent finds its model and where it works. */
export interface RigPlace {
  /** Base URL of the scripted model server, `http://127.0.0.1:<port>/v1`. */
  readonly modelUrl: string;
  /** An empty folder for the sessions. */
  readonly cwd: string;
  /** An empty folder for what the agent's vendor wants to be configured with. */
  readonly configuration: string;
}

/** How an agent whose model can be replaced is started. */
export interface ModelServerRigOptions extends Pick<Rig, "supports"> {
  /** Gives the agent, set up for that model; what it starts it has to end when its connection ends. */
  start(place: RigPlace): Rig["agent"] | Promise<Rig["agent"]>;
}

/**
 * A rig for an agent with a real vendor: only the model is replaced, by the scripted model server, which also shows what
 * arrived there.
 *
 * @param options how the agent is started, and what its driver supports
 * @returns what {@link conformance} asks for
 * @example
 * ```ts
 * conformance(
 *   { describe, it, expect },
 *   modelServerRig({ supports: vendor.supports, start: ({ modelUrl }) => steeringAgent(vendorFor(modelUrl)) }),
 * );
 * ```
 */
export function modelServerRig({ supports, start }: ModelServerRigOptions): MakeRig {
  return async () => {
    const behind = await startModelBehind();
    const [cwd, configuration] = [await temporaryFolder(), await temporaryFolder()];
    const close = async (): Promise<void> => {
      await behind.close();
      for (const folder of [cwd, configuration]) await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    };
    try {
      const agent = await start({ modelUrl: behind.model.url, cwd, configuration });
      const { model, forget } = behind;
      return { agent, supports, behind, cwd, activity: () => model.requests.length, forget, close };
    } catch (error) {
      await close();
      throw error;
    }
  };
}

const temporaryFolder = (): Promise<string> => mkdtemp(join(tmpdir(), "acp-steering-rig-"));
