export { HermesNotFoundError } from "./find-python.js";
export type { HermesVendorOptions } from "./hermes-vendor.js";
export { hermesVendor } from "./hermes-vendor.js";
export type { Log } from "./log.js";
