export { type Case, type Finding, verifies, type Wishes } from "./cases/case.js";
export type { Behind, Boundary, ModelStep, OpenTurn, Stage } from "./cases/stage.js";
export { StepQueue } from "./cases/step-queue.js";
export type { BoundaryFigures } from "./check/boundary/figures.js";
export { check } from "./check/check.js";
export { CheckError, type CheckLimits, type CheckOptions } from "./check/check-options.js";
export type {
  CaseReport,
  CheckEvent,
  CheckedAgent,
  CheckReport,
  RequirementReport,
  TranscriptLine,
  Verdict,
} from "./check/check-report.js";
export {
  type ConformanceOptions,
  conformance,
  type Exceptions,
  type Outcome,
  type Runner,
} from "./conformance/conformance.js";
export { type ModelServerRigOptions, modelServerRig, type RigPlace } from "./conformance/model-server-rig.js";
export type { MakeRig, Rig } from "./conformance/rig.js";
export { DIALECT_NAMES, type DialectName } from "./model-server/index.js";
export type { ModelOptions } from "./reference/chat-model.js";
export { DRIVER_SUPPORTS } from "./reference/driver-agent.js";
export { type ReferenceAgentOptions, type Road, referenceAgent } from "./reference/reference-agent.js";
export type { Need, Requirement, Tier } from "./requirements/requirement.js";
export { REQUIREMENTS, type RequirementId } from "./requirements/requirements.js";
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
