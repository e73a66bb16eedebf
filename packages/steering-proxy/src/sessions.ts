import type { WireMessage } from "@acp-steering/core";
import { METHOD } from "@acp-steering/core/protocol";
import { isRecord, type JsonRecord, recordOf, textOf } from "@acp-steering/kit/adapter";

/** How a session was opened, and by which process of the agent. */
interface Opened {
  readonly params: JsonRecord;
  generation: number;
}

const OPENING: readonly unknown[] = [METHOD.newSession, METHOD.loadSession, METHOD.resumeSession, METHOD.forkSession];
const ENDING: readonly unknown[] = [METHOD.closeSession, METHOD.deleteSession];

/** The sessions that the client has opened, so that an agent that was started again can open them again. */
export class Sessions {
  readonly #opened = new Map<string, Opened>();

  /** The agent of that generation answered a request. */
  answered({ method, params }: WireMessage, { result, error }: WireMessage, generation: number): void {
    const given = recordOf(params);
    const sessionId = textOf(recordOf(result)["sessionId"]) || textOf(given["sessionId"]);
    if (error || sessionId === "") return;
    if (ENDING.includes(method)) this.#opened.delete(sessionId);
    if (OPENING.includes(method)) this.#opened.set(sessionId, { params: given, generation });
  }

  /** The session of a request, where the process of that generation does not have it. */
  missing({ method, params }: WireMessage, generation: number): string | undefined {
    const sessionId = textOf(recordOf(params)["sessionId"]);
    const opened = OPENING.includes(method) && method !== METHOD.forkSession ? undefined : this.#opened.get(sessionId);
    return opened && opened.generation !== generation ? sessionId : undefined;
  }

  /** What opens a session again, by what the agent's `initialize` says that it can; nothing where it cannot. */
  reopening(sessionId: string, initialized: unknown): { readonly method: string; readonly params: object } | undefined {
    const capabilities = recordOf(recordOf(initialized)["agentCapabilities"]);
    const resumes = isRecord(recordOf(capabilities["sessionCapabilities"])["resume"]);
    if (!resumes && capabilities["loadSession"] !== true) return undefined;
    const params = { ...this.#opened.get(sessionId)?.params, sessionId };
    return { method: resumes ? METHOD.resumeSession : METHOD.loadSession, params };
  }

  /** A session was opened again. */
  reopened(sessionId: string, generation: number): void {
    const opened = this.#opened.get(sessionId);
    if (opened) opened.generation = generation;
  }
}
