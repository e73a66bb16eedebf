import { type ModelServer, startModelServer } from "../model-server/index.js";
import { storyReply } from "./story.js";
import { shellToolbox, type ToolboxFor } from "./toolbox.js";

/** The scripted model of a scene: the server, and the tools it asks its agent to use. */
export interface SceneModel {
  readonly server: ModelServer;
  readonly toolboxFor: ToolboxFor;
}

/**
 * Starts the model that plays its part in a scene.
 *
 * @param toolboxFor how it words its tool calls; default: everything through the agent's shell tool
 */
export async function startSceneModel(toolboxFor: ToolboxFor = shellToolbox): Promise<SceneModel> {
  const server = await startModelServer({ script: (request) => storyReply(request, toolboxFor) });
  return { server, toolboxFor };
}
