/** The steering layer for ACP agents: a user's message joins the running turn, and is never lost, doubled or misplaced. */

export type { InjectCall, SteeringDriver, Verdict } from "./driver.js";
export type {
  BusyBehavior,
  ClientSteering,
  ContentBlock,
  ContentType,
  ContinuationMeta,
  EmbeddedResource,
  IdleBehavior,
  IdleDetail,
  MessageStream,
  Receipt,
  RevokeRequest,
  RevokeResult,
  RpcError,
  SteeringAdvertisement,
  SteeringError,
  SteeringOutcome,
  SteeringRequest,
  SteeringResult,
  TurnReport,
  UndeliveredReason,
  UndeliveredSteer,
  WireMessage,
} from "./protocol.js";
export type {
  AgentConnector,
  ConnectOptions,
  PendingSteer,
  Steerable,
  SteeringConnection,
  SteeringOptions,
} from "./steering.js";
export { steering } from "./steering.js";
