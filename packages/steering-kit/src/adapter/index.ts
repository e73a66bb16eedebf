export type { AdapterCommand, Log, Show } from "./command.js";
export { logAs, parseFlags, runCommand, secondsOf, UsageError } from "./command.js";
export { currentText } from "./current-text.js";
export type { JsonRecord } from "./json.js";
export { isRecord, listOf, numberOf, recordOf, textOf } from "./json.js";
export { SteerGate } from "./steer-gate.js";
export { whenStuck } from "./when-stuck.js";
export { withTimeout } from "./with-timeout.js";
