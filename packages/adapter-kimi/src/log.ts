/** One line to stderr, in the name of the adapter. Never give it prompt text unless the user asked for content. */
export type Log = (line: string) => void;

export const logToStderr: Log = (line) => {
  process.stderr.write(`kimi-steering-acp: ${line.replaceAll("\n", " ")}\n`);
};
