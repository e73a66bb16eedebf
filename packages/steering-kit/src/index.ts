export type { Servable } from "./serve-stdio.js";
export { serveStdio } from "./serve-stdio.js";
export type { SteeringAgent, SteeringAgentOptions } from "./steering-agent.js";
export { steeringAgent } from "./steering-agent.js";
export type {
  ConfigChange,
  ElicitationForm,
  PermissionQuestion,
  SteerMessage,
  Turn,
  TurnOutcome,
  Vendor,
  VendorSession,
} from "./vendor.js";
export { VendorError } from "./vendor-error.js";
