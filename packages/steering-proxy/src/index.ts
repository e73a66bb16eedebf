export type { AgentAnswer, AgentCalls, VendorSteering, VendorSteeringSession, Watch } from "./vendor-steering.js";
