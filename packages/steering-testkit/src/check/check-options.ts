import type { DialectName } from "../model-server/index.js";
import type { CheckEvent } from "./check-report.js";

/** What {@link check} looks at, and how. */
export interface CheckOptions {
  readonly command: string;
  /** `{model-url}` and `{model-root}` are replaced by the model server's address, with and without its `/v1`. */
  readonly args?: readonly string[];
  /** Added to this process's environment, with the same replacements as in `args`. */
  readonly env?: Readonly<Record<string, string>>;
  /** The folder in which the sessions work; default: an empty one that is removed at the end. */
  readonly cwd?: string;
  /** The wire format of the agent's model provider. Without it the check is blind: it sees the wire and nothing else. */
  readonly modelServer?: DialectName;
  /** How many steers are aimed at the end of a turn. Default 200. */
  readonly trials?: number;
  /** Ids of requirements; default: all of them. */
  readonly only?: readonly string[];
  /** Told of everything as it happens. */
  readonly onEvent?: (event: CheckEvent) => void;
  /** Ends the check, and the agent with it. */
  readonly signal?: AbortSignal;
  readonly limits?: Partial<CheckLimits>;
}

/** How long an agent may take, in milliseconds, and how much it may write, in characters. */
export interface CheckLimits {
  /** From its start to its answer to `initialize`: some unpack themselves first. Default 60,000. */
  readonly startMs: number;
  /** Without any message and any request to the model while a case waits for it. Default 15,000. */
  readonly silenceMs: number;
  /** For one case altogether. Default 60,000. */
  readonly caseMs: number;
  /** To stdout, by one agent process. Default 64 Mi. */
  readonly output: number;
}

export const DEFAULT_TRIALS = 200;

export const DEFAULT_LIMITS: CheckLimits = {
  startMs: 60_000,
  silenceMs: 15_000,
  caseMs: 60_000,
  output: 67_108_864,
};

/**
 * Why there is no result, recognised by `code`: `setup` (the command cannot be started, an option makes no sense),
 * `agentFailed` (it ended or refused before there was a session), `noModel` (it never asked the model server),
 * `interrupted` (by `signal`). The message says what happened and what to do.
 */
export class CheckError extends Error {
  readonly code: "setup" | "agentFailed" | "noModel" | "interrupted";

  constructor(code: CheckError["code"], message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "CheckError";
    this.code = code;
  }
}
