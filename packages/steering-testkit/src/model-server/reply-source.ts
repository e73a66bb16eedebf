import type { Reply, Script } from "./reply.js";
import type { ModelRequest } from "./request.js";
import { parseReply, parseScript } from "./script.js";

const WHEN_THE_SCRIPT_IS_OVER: Reply = { text: "Done." };

const isFor = ({ when }: Reply, { tools, messages }: ModelRequest): boolean => {
  const { tools: withTools, user } = when ?? {};
  if (withTools !== undefined && withTools !== tools.length > 0) return false;
  return user === undefined || messages.some(({ role, text }) => role === "user" && text.includes(user));
};

/** Decides which reply a request gets: the queue first, then the script function, then `Done.` */
export class ReplySource {
  readonly #script: Script;
  #queue: Reply[] = [];

  constructor(script: Script) {
    this.#script = script;
    this.restart();
  }

  /** Takes the reply at once, so that replies go to requests in order of arrival. */
  next(request: ModelRequest): Reply | Promise<Reply> {
    const position = this.#queue.findIndex((reply) => isFor(reply, request));
    const [queued] = position < 0 ? [] : this.#queue.splice(position, 1);
    if (queued !== undefined) return queued;
    return typeof this.#script === "function" ? this.#ask(this.#script, request) : WHEN_THE_SCRIPT_IS_OVER;
  }

  enqueue(replies: readonly Reply[]): void {
    this.#queue.push(...parseScript(replies, "enqueue"));
  }

  restart(): void {
    this.#queue = typeof this.#script === "function" ? [] : [...parseScript(this.#script)];
  }

  async #ask(script: Exclude<Script, readonly Reply[]>, request: ModelRequest): Promise<Reply> {
    return parseReply(await script(request, request.index), request.index);
  }
}
