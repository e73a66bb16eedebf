export { ExecutableNotFoundError, findExecutable } from "./find-executable.js";
export type { ChildExit, SpawnChildOptions, SpawnedChild } from "./spawn-child.js";
export { spawnChild } from "./spawn-child.js";
