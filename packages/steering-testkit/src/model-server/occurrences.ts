import type { ModelRequest } from "./request.js";
import { isTold } from "./told.js";

/** A place where a text stands. */
export interface Occurrence {
  /** Index in the request's `messages`. */
  readonly message: number;
  /** Offset in that message's `text`, in UTF-16 code units. */
  readonly offset: number;
}

const offsetsIn = (text: string, part: string): readonly number[] => {
  const offsets: number[] = [];
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + part.length)) offsets.push(at);
  return offsets;
};

/**
 * Every place where a text stands in what a request tells of the user, in order: whether the model was told, how often,
 * and what before what. That is in user messages, and in system messages amid the conversation.
 *
 * @param request a request of any dialect
 * @param text a non-empty text; overlapping places count once
 * @returns the places, from the first message to the last
 * @example
 * ```ts
 * const [steer, ...more] = occurrencesOf(request, "not that file");
 * ```
 */
export const occurrencesOf = (request: ModelRequest, text: string): readonly Occurrence[] =>
  text === ""
    ? []
    : request.messages.flatMap(({ role, text: said }, message, messages) =>
        role !== "tool" && isTold(messages, message)
          ? offsetsIn(said, text).map((offset) => ({ message, offset }))
          : [],
      );
