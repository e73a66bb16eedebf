/** The steering layer in front of any ACP agent process. */

export type { Restart } from "./agent.js";
export type { AgentCommand } from "./agent-process.js";
export { REASON } from "./errors.js";
export { type Flow, PROXY_EXIT, type ProxyOptions } from "./options.js";
export { createProxy, type RunningProxy, runProxy } from "./proxy.js";
export { type Choice, chooseStrategy, STRATEGIES, type Strategy } from "./strategy.js";
export type { AgentAnswer, AgentCalls, VendorSteering, VendorSteeringSession, Watch } from "./vendor-steering.js";
