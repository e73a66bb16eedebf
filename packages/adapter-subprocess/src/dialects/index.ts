import type { Dialect } from "../dialect.js";
import { piRpc } from "./pi-rpc.js";

/** Every dialect that `--dialect` knows. */
export const DIALECTS: readonly Dialect[] = [piRpc];

export function findDialect(name: string): Dialect | undefined {
  return DIALECTS.find((dialect) => dialect.name === name);
}
