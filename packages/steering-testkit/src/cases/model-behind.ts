import {
  isTold,
  type ModelRequest,
  type ModelServer,
  type ModelServerOptions,
  type Reply,
  shellCall,
  startModelServer,
} from "../model-server/index.js";
import { MARK } from "./mark.js";
import type { Behind, ModelStep } from "./stage.js";
import { StepQueue } from "./step-queue.js";

/** What a request gets that no case is about. */
const ASIDE: Reply = { text: "ok" };
/** An error that clients do not try again: what a retry does is not what is looked at here. */
const FAILURE: Reply = {
  error: { status: 400, type: "invalid_request_error", message: "The scripted model fails, as it was told to." },
};
/** The scripted model server as what stands behind an agent: what carries a mark waits until a case answers it. */
export interface ModelBehind extends Behind {
  readonly model: ModelServer;
  /** Calls the listener for every request from now on, also those that no case is about; returns how to stop that. */
  onRequest(listener: (request: ModelRequest) => void): () => void;
  /** The case is over: answers what waits, and from now on also what comes with the marks that were seen until now. */
  forget(): void;
  close(): Promise<void>;
}

/**
 * Starts a scripted model server whose answers are given by cases.
 *
 * A request without any mark is answered at once, and so is what an agent asks for itself: without tools where it offers
 * tools otherwise (a title), or with a last word that is neither a case's nor a tool's (a guess at the user's next
 * words). Ends with `close()`.
 *
 * @example
 * ```ts
 * const behind = await startModelBehind();
 * const step = await behind.next(turn.mark); // the agent asks its model about that prompt
 * await step.end("Done.");
 * ```
 */
export async function startModelBehind(options: Omit<ModelServerOptions, "script"> = {}): Promise<ModelBehind> {
  const queue = new StepQueue();
  const parked = new Map<ServedStep, ModelRequest>();
  const listeners = new Set<(request: ModelRequest) => void>();
  const seenMarks = new Set<string>();
  const pastMarks = new Set<string>();
  let offersTools = false;

  const answerAside = (step: ServedStep): void => {
    parked.delete(step);
    step.answer(ASIDE);
  };

  /** Who offers tools once makes its other requests for itself. */
  const noteTools = ({ tools }: ModelRequest): void => {
    if (offersTools || tools.length === 0) return;
    offersTools = true;
    for (const step of parked.keys()) {
      if (queue.isTaken(step)) continue;
      queue.remove(step);
      answerAside(step);
    }
  };

  const park = (request: ModelRequest): Promise<Reply> => {
    const step = new ServedStep(
      request,
      () => model,
      () => parked.delete(step),
    );
    parked.set(step, request);
    queue.add(step);
    return step.reply;
  };

  const script = (request: ModelRequest): Reply | Promise<Reply> => {
    noteTools(request);
    for (const listener of listeners) listener(request);
    const marks = toldOf(request).flatMap((text) => text.match(MARK) ?? []);
    const isOver = marks.every((mark) => pastMarks.has(mark));
    if (isOver || (offersTools && request.tools.length === 0) || isOwnIdea(request)) return ASIDE;
    for (const mark of marks) seenMarks.add(mark);
    return park(request);
  };

  const model = await startModelServer({ ...options, script });
  return {
    model,
    next: (mark, signal) => queue.next(mark, signal),
    steps: (mark) => queue.steps(mark),
    onRequest: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    forget: () => {
      for (const mark of seenMarks) pastMarks.add(mark);
      seenMarks.clear();
      queue.clear();
      for (const step of parked.keys()) answerAside(step);
    },
    close: () => model.close(),
  };
}

/** What the request gives the model to read: what the user said and what tools gave. */
function toldOf({ messages }: ModelRequest): readonly string[] {
  return messages.filter((_, index) => isTold(messages, index)).map(({ text }) => text);
}

/** What was said last is neither of a case nor of a tool: the agent asks for itself, as for what its user may say next. */
function isOwnIdea({ messages }: ModelRequest): boolean {
  const answered = messages.findLastIndex(({ role }) => role === "assistant");
  const news = messages.filter((_, index) => index > answered && isTold(messages, index));
  return news.every(({ role, text }) => role !== "tool" && text.search(MARK) < 0);
}

class ServedStep implements ModelStep {
  readonly texts: readonly string[];
  readonly images: number;
  readonly hasShell: boolean;
  readonly reply: Promise<Reply>;
  readonly #request: ModelRequest;
  readonly #model: () => ModelServer;
  readonly #answered: () => void;
  #resolve: (reply: Reply) => void = () => {};
  #speaking = false;

  constructor(request: ModelRequest, model: () => ModelServer, answered: () => void) {
    this.texts = toldOf(request);
    const { messages } = request;
    this.images = messages.reduce((sum, { images }, index) => sum + (isTold(messages, index) ? images : 0), 0);
    this.hasShell = shellCall(request, "true") !== undefined;
    this.#request = request;
    this.#model = model;
    this.#answered = answered;
    this.reply = new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }

  get abandoned(): Promise<void> {
    return this.#settled().then((request) => (request?.aborted === true ? undefined : new Promise<void>(() => {})));
  }

  answer(reply: Reply): void {
    this.#answered();
    if (this.#speaking) void this.#finish();
    else this.#resolve(reply);
  }

  /** It goes on waiting for its end: an agent may leave a request open that it does not care for any more. */
  say(text: string): void {
    this.#resolve({ text: [text], hold: this.#hold, holdAt: "beforeEnd" });
    this.#speaking = true;
  }

  async end(text = "Done."): Promise<void> {
    this.answer({ text });
    await this.#settled();
  }

  run(command: string, options?: { readonly asking?: boolean }): void {
    const call = shellCall(this.#request, command, options);
    if (call === undefined) throw new Error("the agent offers its model no shell tool that is known by its name");
    this.answer({ toolCalls: [call] });
  }

  fail(): void {
    this.answer(FAILURE);
  }

  get #hold(): string {
    return `step ${this.#request.index}`;
  }

  /** The request once its answer is over, in whatever way; `undefined` where the model server was closed before. */
  #settled(): Promise<ModelRequest | undefined> {
    return this.#model()
      .settled(this.#request.index)
      .catch(() => undefined);
  }

  /** What was said is released as soon as it is held, unless the agent has gone away meanwhile. */
  async #finish(): Promise<void> {
    const model = this.#model();
    try {
      await Promise.race([model.held(this.#hold), this.#settled()]);
      model.release(this.#hold);
    } catch {
      // Never held: the agent or the model server went away before.
    }
  }
}
