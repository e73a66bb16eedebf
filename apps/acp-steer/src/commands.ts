import { checkCommand } from "./check/check-command.js";
import type { Command } from "./command.js";

/** All commands, in the order in which the help shows them. */
export const COMMANDS: readonly Command[] = [checkCommand];
