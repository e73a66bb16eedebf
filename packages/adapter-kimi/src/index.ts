export {
  agentSdkConversation,
  type KimiAgentPart,
  type KimiAgentSession,
  type KimiAgentTurn,
} from "./agent-sdk-conversation.js";
export type { KimiConversation, KimiEvent, KimiMessage, KimiPart, SteerOutcome } from "./kimi-conversation.js";
export { type KimiTurnPlace, KimiTurns, type KimiTurnsOptions } from "./kimi-turns.js";
export { type KimiVendorOptions, kimiVendor } from "./kimi-vendor.js";
export { type KimiSdkPart, type KimiSdkSession, sdkConversation } from "./sdk-conversation.js";
