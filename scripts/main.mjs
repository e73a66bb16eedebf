import { say } from "./repository.mjs";

/**
 * Runs the body of a root command: its result is the exit code, an error is one line.
 *
 * @param {() => Promise<number | void>} body
 */
export async function main(body) {
  try {
    process.exitCode = (await body()) ?? process.exitCode ?? 0;
  } catch (error) {
    say(error instanceof Error ? error.message : String(error));
    process.exitCode = 1;
  }
}
