import type { WireMessage } from "@acp-steering/core";
import type { RequirementId } from "../../requirements/requirements.js";
import type { AskModel } from "../chat-model.js";
import { ROADS, type Road } from "../reference-agent.js";
import { type Connectable, filtered, type Wire } from "./filtered.js";
import { ConnectionWatch, type SeenRequest, Watch } from "./watch.js";

/** What a break does to the messages of a connection and to the questions to the model. What it leaves out is passed on. */
export interface Fault {
  /** A message of the client, and, where it has a method, what it was seen to be. */
  fromClient?(message: WireMessage, wire: Wire, request: SeenRequest | undefined): void;
  /** A message of the agent, and, of an answer, the request that it answers. */
  fromAgent?(message: WireMessage, wire: Wire, answered: SeenRequest | undefined): void;
  /** A question of the agent to its model. */
  ask?(...question: Parameters<AskModel>): ReturnType<AskModel>;
}

/** What a break has to work with. */
export interface Workings {
  readonly watch: Watch;
  readonly askModel: AskModel;
}

/** A reference agent that breaks one requirement and keeps all others of its tier. */
export interface BrokenAgent {
  readonly requirement: RequirementId;
  /** What it does wrong. */
  readonly what: string;
  /** Makes the fault, once for each agent. */
  apply(workings: Workings): Fault;
}

/** The reference agent of that road with one fault. */
export function breakAgent({ apply }: BrokenAgent, road: Road, askModel: AskModel): Connectable {
  const watch = new Watch();
  const fault = apply({ watch, askModel });
  const ask = fault.ask?.bind(fault) ?? askModel;
  const watchedAsk: AskModel = async (question) => {
    watch.note(question.sessionId, "asked");
    const answer = await ask(question);
    if (!answer.message.tool_calls) watch.note(question.sessionId, "finished");
    return answer;
  };
  return filtered(ROADS[road](watchedAsk), (wire) => {
    const seen = new ConnectionWatch(watch);
    return {
      fromClient: (message) => {
        const request = seen.noteClient(message);
        if (fault.fromClient) fault.fromClient(message, wire, request);
        else wire.toAgent(message);
      },
      fromAgent: (message) => {
        const answered = seen.noteAgent(message);
        if (fault.fromAgent) fault.fromAgent(message, wire, answered);
        else wire.toClient(message);
      },
    };
  });
}
