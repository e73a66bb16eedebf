import type { ContentBlock, InjectCall, PendingSteer, Verdict } from "@acp-steering/core";
import { CODE, METHOD } from "@acp-steering/core/protocol";
import type { AgentContext, PromptRequest, PromptResponse } from "@agentclientprotocol/sdk/unstable";
import { Outbox } from "./outbox.js";
import type { SteerMessage, Turn, VendorSession } from "./vendor.js";
import { VendorError } from "./vendor-error.js";

interface RunContext {
  readonly params: PromptRequest;
  readonly client: AgentContext;
  readonly signal: AbortSignal;
  /** The client has declared that it shows forms. */
  readonly showsForms: boolean;
}

interface Run {
  readonly outbox: Outbox;
  readonly abort: AbortController;
  /** Settles when the run and all it had to say is over. */
  readonly ended: ReturnType<typeof settlement>;
}

/** How long a close waits for the run that it ends, in milliseconds. */
const CLOSE_GRACE_MS = 2_000;

/** One session between ACP and its vendor: runs prompts one at a time, forwards steers and interrupts. */
export class AgentSession {
  readonly vendorSession: VendorSession;
  readonly #take: (sessionId: string) => readonly PendingSteer[];
  readonly #waiting = new Set<(run: Run | undefined) => void>();
  #run: Run | undefined;
  #closing: Promise<void> | undefined;

  constructor(vendorSession: VendorSession, take: (sessionId: string) => readonly PendingSteer[]) {
    this.vendorSession = vendorSession;
    this.#take = take;
  }

  get id(): string {
    return this.vendorSession.id;
  }

  async prompt(context: RunContext): Promise<PromptResponse> {
    if (this.#run) {
      throw new VendorError(`Session ${this.id} already runs a prompt. Wait for its answer.`, {
        code: CODE.invalidRequest,
        data: { reason: "busy" },
      });
    }
    const run: Run = { outbox: new Outbox(context.client, this.id), abort: new AbortController(), ended: settlement() };
    const onCancelRequest = (): void => void this.interrupt();
    context.signal.addEventListener("abort", onCancelRequest);
    this.#begin(run);
    try {
      const { stopReason, usage } = await this.vendorSession.prompt(this.#turn(run, context));
      return usage ? { stopReason, usage } : { stopReason };
    } finally {
      await run.outbox.flushed();
      context.signal.removeEventListener("abort", onCancelRequest);
      this.#run = undefined;
      run.ended.resolve();
    }
  }

  inject(call: InjectCall): PromiseLike<Verdict> {
    const { vendorSession } = this;
    if (!vendorSession.steer) return Promise.resolve("unsupported");
    if (this.#run) return this.#steer(this.#run, call, vendorSession.steer.bind(vendorSession));
    return this.#runOf(call).then((run) => (run ? this.inject(call) : "tooLate"));
  }

  /** A steer can arrive in the same write as its prompt, before the run has begun. */
  #runOf({ signal }: InjectCall): Promise<Run | undefined> {
    return new Promise((resolve) => {
      this.#waiting.add(resolve);
      signal.addEventListener("abort", () => {
        this.#waiting.delete(resolve);
        resolve(undefined);
      });
    });
  }

  #begin(run: Run): void {
    this.#run = run;
    for (const resolve of this.#waiting) resolve(run);
    this.#waiting.clear();
  }

  #steer(run: Run, call: InjectCall, steer: (message: SteerMessage) => PromiseLike<Verdict>): PromiseLike<Verdict> {
    const { turnId, messageId, prompt, signal } = call;
    const verdict = settlement();
    const answer = steer({
      turnId,
      messageId,
      prompt,
      signal,
      delivered: () => run.outbox.report(verdict.promise, () => call.delivered()),
      undelivered: () => run.outbox.report(verdict.promise, () => call.undelivered()),
    });
    answer.then(verdict.resolve, verdict.resolve);
    return answer;
  }

  async interrupt(): Promise<void> {
    this.#run?.abort.abort();
    await this.vendorSession.interrupt();
  }

  close(): Promise<void> {
    this.#run?.abort.abort();
    this.#closing ??= this.#closeVendor();
    return this.#closing;
  }

  /** A run that the close ends says first what became of its steers; one that does not end is not waited for. */
  async #closeVendor(): Promise<void> {
    const ended = this.#run?.ended.promise;
    await this.vendorSession.close?.();
    if (!ended) return;
    let timer: NodeJS.Timeout | undefined;
    const overdue = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, CLOSE_GRACE_MS);
    });
    await Promise.race([ended, overdue]);
    clearTimeout(timer);
    // The answer of the run is on its way; whoever closes may end the process next.
    await new Promise((resolve) => setImmediate(resolve));
  }

  #turn(run: Run, context: RunContext): Turn {
    const { outbox, abort } = run;
    const elicit: NonNullable<Turn["elicit"]> = async (form, signal) => {
      await outbox.flushed();
      return context.client.request(
        METHOD.elicitation,
        { ...form, mode: "form", sessionId: this.id },
        { cancellationSignal: signal ? AbortSignal.any([abort.signal, signal]) : abort.signal },
      );
    };
    return {
      ...(context.showsForms && { elicit }),
      prompt: context.params.prompt as readonly ContentBlock[],
      continuation: isContinuation(context.params._meta),
      signal: abort.signal,
      update: (update) => outbox.update(update),
      flushed: () => outbox.flushed(),
      requestPermission: async (question, signal) => {
        await outbox.flushed();
        return context.client.request(
          METHOD.permission,
          { ...question, sessionId: this.id },
          { cancellationSignal: signal ? AbortSignal.any([abort.signal, signal]) : abort.signal },
        );
      },
      take: () => this.#take(this.id),
    };
  }
}

function isContinuation(meta: PromptRequest["_meta"]): boolean {
  const steering = meta?.["steering"];
  return (
    typeof steering === "object" && steering !== null && "continuation" in steering && steering.continuation === true
  );
}

function settlement(): { promise: Promise<void>; resolve: () => void } {
  let resolve = (): void => {};
  const promise = new Promise<void>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}
