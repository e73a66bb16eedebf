import type { RpcError, Verdict } from "@acp-steering/core";
import { CODE } from "@acp-steering/core/protocol";
import { type JsonRecord, recordOf } from "@acp-steering/kit/adapter";
import type { AgentAnswer } from "../vendor-steering.js";

const METHOD_NOT_FOUND = -32601;
/** Codes with which a request is refused before it has any effect. */
const REFUSED: readonly number[] = [METHOD_NOT_FOUND, CODE.invalidRequest, CODE.invalidParams, CODE.notFound];

/** The words of a dialect. */
export interface Words {
  /** What a result means; `undefined`: nothing that is known. */
  result(result: JsonRecord): Verdict | undefined;
  /** Whether an error says that no run is there to be steered. */
  isLate?(error: RpcError): boolean;
}

/** Whether the agent refused the request before it had any effect. */
export const isRefusal = ({ error }: AgentAnswer): boolean => error !== undefined && REFUSED.includes(error.code);

/** What an agent's answer means for the steer. An answer that nobody knows may have had an effect: the steer is its own. */
export function verdictOf(answer: AgentAnswer, { result, isLate = () => false }: Words): Verdict {
  const { error } = answer;
  if (!error) return result(recordOf(answer.result)) ?? "accepted";
  if (isLate(error)) return "tooLate";
  return isRefusal(answer) ? "unsupported" : "accepted";
}

/** A dialect whose answer is one word in one place. */
export const oneWord =
  (member: string, words: Readonly<Record<string, Verdict>>): Words["result"] =>
  (result) => {
    const word = String(result[member]);
    return Object.hasOwn(words, word) ? words[word] : undefined;
  };
