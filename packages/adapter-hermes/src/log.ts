/** One line to stderr, in the name of the adapter. Never give it prompt text. */
export type Log = (line: string) => void;

export const logToStderr: Log = (line) => {
  process.stderr.write(`hermes-steering-acp: ${line.replaceAll("\n", " ")}\n`);
};
