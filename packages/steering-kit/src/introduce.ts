import type { InitializeResponse, PROTOCOL_VERSION, SessionCapabilities } from "@agentclientprotocol/sdk/unstable";
import type { Vendor } from "./vendor.js";

/** The SDK's own value, which would bring the whole SDK with it; its type says when they differ. */
const VERSION: typeof PROTOCOL_VERSION = 1;

/** The answer to `initialize`: what the vendor has, and nothing else. */
export function introduction(vendor: Vendor): InitializeResponse {
  const { authMethods = [] } = vendor;
  const sessionCapabilities: SessionCapabilities = {
    close: {},
    ...(vendor.resume && { resume: {} }),
    ...(vendor.fork && { fork: {} }),
    ...(vendor.list && { list: {} }),
    ...(vendor.delete && { delete: {} }),
    ...(vendor.additionalDirectories && { additionalDirectories: {} }),
  };
  return {
    protocolVersion: VERSION,
    agentInfo: { name: vendor.name, title: vendor.title ?? null, version: vendor.version },
    agentCapabilities: {
      loadSession: vendor.load !== undefined,
      promptCapabilities: vendor.promptCapabilities ?? {},
      sessionCapabilities,
      ...(vendor.mcpCapabilities && { mcpCapabilities: vendor.mcpCapabilities }),
      ...(vendor.logout && { auth: { logout: {} } }),
    },
    authMethods: [...authMethods],
  };
}
