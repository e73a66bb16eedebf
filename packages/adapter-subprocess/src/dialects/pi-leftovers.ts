import { existsSync } from "node:fs";
import { recordOf } from "@acp-steering/kit/adapter";
import { type PiCommands, PiRefusal } from "./pi-commands.js";
import { readForkEntries } from "./pi-records.js";
import { leaveUserMessages } from "./pi-session-file.js";

/** How long Pi may take to load its session again. It reads one file. */
const WITHDRAW_TIMEOUT_MS = 10_000;

export interface PiLeftovers {
  /** Pi's session file; a session that is not kept has none. */
  readonly file: string | undefined;
  /** How many steers stand unread at the end of Pi's history. */
  readonly strays: number;
}

/**
 * Takes out of Pi the steers that it has not used. Pi 0.73 keeps them in its queue, also over an abort or an error, and
 * would use them in its next run: a continuation with the same steers would bring them twice, a later turn would see
 * another turn's steers.
 *
 * @returns whether Pi did it, and within the time
 */
export async function withdrawLeftovers(commands: PiCommands, leftovers: PiLeftovers): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), WITHDRAW_TIMEOUT_MS);
  });
  const withdrawn = (leftovers.strays > 0 ? leaveStrays(commands, leftovers) : emptyQueue(commands, leftovers)).then(
    (answer) => recordOf(answer)["cancelled"] !== true,
    () => false,
  );
  return Promise.race([withdrawn, timeout]).finally(() => clearTimeout(timer));
}

async function emptyQueue(commands: PiCommands, leftovers: PiLeftovers): Promise<unknown> {
  try {
    return await commands.send("clear_queue");
  } catch (error) {
    if (!(error instanceof PiRefusal)) throw error;
    // Pi 0.73 has no such command. Loading the session anew empties the queue.
    return loadAnew(commands, leftovers);
  }
}

function loadAnew(commands: PiCommands, { file }: PiLeftovers): Promise<unknown> {
  // Without a file the conversation lives in Pi alone; a clone of it takes the history along, but not the queue.
  return file ? commands.send("switch_session", { sessionPath: file }) : commands.send("clone");
}

/** Goes back to the conversation before the strays, and empties the queue by the way. */
async function leaveStrays(commands: PiCommands, leftovers: PiLeftovers): Promise<unknown> {
  const { file, strays } = leftovers;
  if (file && existsSync(file)) {
    await leaveUserMessages(file, strays);
    return loadAnew(commands, leftovers);
  }
  const entryId = readForkEntries(await commands.send("get_fork_messages")).at(-strays);
  return commands.send("fork", { entryId });
}
