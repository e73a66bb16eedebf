export type { Log } from "@acp-steering/kit/adapter";
export { HermesNotFoundError } from "./find-python.js";
export type { HermesVendorOptions } from "./hermes-vendor.js";
export { hermesVendor } from "./hermes-vendor.js";
