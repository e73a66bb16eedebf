import { ANSWER_CASES } from "./answers.js";
import { CANCEL_CASES } from "./cancel.js";
import type { Case } from "./case.js";
import { CLOSE_CASES } from "./close.js";
import { COMMAND_CASES } from "./commands.js";
import { CONTENT_CASES } from "./content.js";
import { DRIVER_CASES } from "./driver.js";
import { ERROR_CASES } from "./errors.js";
import { FIGURE_CASES } from "./figures.js";
import { HOLD_CASES } from "./holds.js";
import { IDLE_CASES } from "./idle.js";
import { ISOLATION_CASES } from "./isolation.js";
import { NAME_CASES } from "./names.js";
import { ORDER_CASES } from "./order.js";
import { RECEIPT_CASES } from "./receipts.js";
import { REVOKE_CASES } from "./revoke.js";
import { RUNNING_CASES } from "./running.js";

/** Every case that can be played with any agent, in this process or behind a command. */
export const CASES: readonly Case[] = [
  ...IDLE_CASES,
  ...RUNNING_CASES,
  ...ORDER_CASES,
  ...ANSWER_CASES,
  ...CANCEL_CASES,
  ...ISOLATION_CASES,
  ...ERROR_CASES,
  ...HOLD_CASES,
  ...CONTENT_CASES,
  ...CLOSE_CASES,
  ...NAME_CASES,
  ...RECEIPT_CASES,
  ...REVOKE_CASES,
  ...COMMAND_CASES,
  ...DRIVER_CASES,
  ...FIGURE_CASES,
];
