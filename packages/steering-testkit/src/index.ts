export type { AgentCommand } from "./scene/host.js";
export { playScene, type SceneOptions } from "./scene/play-scene.js";
export {
  type AnswerFacts,
  type Check,
  type CheckId,
  type Party,
  type Report,
  SceneError,
  type SceneEvent,
  type SceneFacts,
  type SceneResult,
  type SightingFacts,
} from "./scene/scene-event.js";
export { type SceneModel, startSceneModel } from "./scene/scene-model.js";
export { writeProject } from "./scene/story.js";
export { shellToolbox, type Toolbox, type ToolboxFor } from "./scene/toolbox.js";
export { WireClient, type WireClientOptions } from "./wire-client.js";
export {
  type AgentExit,
  type ContentBlockLike,
  type ParsedMessage,
  type RequestHandler,
  type RequestId,
  type SentRequest,
  type SessionUpdateParams,
  WireError,
  type WireRecord,
} from "./wire-record.js";
