export type { JsonRecord } from "@acp-steering/kit/adapter";
export type { Channel, Dialect, DialectSession, SessionIdentity } from "./dialect.js";
export { piRpc } from "./dialects/pi-rpc.js";
export type { SubprocessVendorOptions } from "./subprocess-vendor.js";
export { subprocessVendor } from "./subprocess-vendor.js";
