import type { Steerable, SteeringDriver, SteeringOptions } from "@acp-steering/core";
import { steering } from "@acp-steering/core";
import type { Stream } from "@agentclientprotocol/sdk/unstable";
import { connectVendor } from "./connect-vendor.js";
import { SessionRegistry } from "./session-registry.js";
import type { Vendor } from "./vendor.js";

/** The options of `steering()` that are not the vendor's to answer. */
export type SteeringAgentOptions = Omit<SteeringOptions, "driver" | "inbox">;

/** A steerable over a vendor. `dispose()` closes every session, then the vendor; it may be called more than once. */
export interface SteeringAgent extends Steerable {
  dispose(): Promise<void>;
}

/**
 * Makes a steerable ACP agent of a vendor.
 *
 * Capabilities follow from the methods the vendor has. What a vendor throws becomes a JSON-RPC error (-32603, or the
 * code of a {@link VendorError}); an unknown session is -32002. The sessions that a connection opened are closed with it.
 *
 * @example
 * ```ts
 * const agent = steeringAgent(vendor);
 * await serveStdio(agent);
 * ```
 */
export function steeringAgent(vendor: Vendor, options: SteeringAgentOptions = {}): SteeringAgent {
  const sessions = new SessionRegistry((sessionId) => steerable.take(sessionId));
  const connector = {
    connect: (stream: Stream) => connectVendor({ vendor, sessions: sessions.forConnection(), stream }),
  };
  const steerable = steering(connector, { ...options, ...roadOf(vendor, sessions) });
  let disposal: Promise<void> | undefined;
  return {
    connect: (stream, connectOptions) => steerable.connect(stream, connectOptions),
    take: (sessionId) => steerable.take(sessionId),
    dispose: () => {
      disposal ??= sessions.closeAll().then(() => vendor.dispose?.());
      return disposal;
    },
  };
}

function roadOf(vendor: Vendor, sessions: SessionRegistry): Pick<SteeringOptions, "driver" | "inbox"> {
  if (!vendor.supports) return vendor.inbox ? { inbox: true } : {};
  const driver: SteeringDriver = {
    spec: "steering-driver-1",
    supports: vendor.supports,
    inject: (call) => sessions.find(call.sessionId)?.inject(call) ?? Promise.resolve("tooLate"),
  };
  return { driver };
}
