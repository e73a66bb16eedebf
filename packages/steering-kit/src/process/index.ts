export { ExecutableNotFoundError, findExecutable } from "./find-executable.js";
export { LineReader, LineTooLongError } from "./line-reader.js";
export type { ChildExit, ChildPipes, ChildWithChannel, SpawnChildOptions, SpawnedChild } from "./spawn-child.js";
export { spawnChild } from "./spawn-child.js";
export { StderrTail } from "./stderr-tail.js";
export { whenMute } from "./when-mute.js";
