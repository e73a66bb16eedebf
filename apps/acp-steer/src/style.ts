import type { WriteStream } from "node:tty";
import pc from "picocolors";

/** How text is shown on one stream: people get colours and lines that fit, pipes get plain text. */
export interface Style {
  readonly colors: ReturnType<typeof pc.createColors>;
  /** In characters. */
  readonly width: number;
}

const MIN_WIDTH = 80;
const PIPE_WIDTH = 400;

/** What that stream can show. */
export function styleOf(stream: Pick<WriteStream, "isTTY" | "columns">): Style {
  const { env } = process;
  const color = stream.isTTY === true && !env["NO_COLOR"] && env["TERM"] !== "dumb";
  const width = stream.isTTY === true ? Math.max(MIN_WIDTH, stream.columns) : PIPE_WIDTH;
  return { colors: pc.createColors(color), width };
}
