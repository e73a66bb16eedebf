export type { SteerMessage, Turn, TurnOutcome } from "@acp-steering/kit";
export type { JsonRecord } from "@acp-steering/kit/adapter";
export type {
  Abilities,
  Agent,
  Channel,
  Conversation,
  Dialect,
  DialectSession,
  History,
  Listener,
  Opening,
  Place,
  Reopening,
  SessionUpdate,
  SignIn,
  Visit,
} from "./dialect.js";
export { claudeStreamJson } from "./dialects/claude-stream-json.js";
export { codexAppServer } from "./dialects/codex-app-server.js";
export { piRpc } from "./dialects/pi-rpc.js";
export { steerJsonl } from "./dialects/steer-jsonl.js";
export type { SubprocessVendorOptions } from "./subprocess-vendor.js";
export { meetAgent, subprocessVendor } from "./subprocess-vendor.js";
