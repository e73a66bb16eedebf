import { METHOD } from "@acp-steering/core/protocol";
import type { BrokenAgent, Fault } from "./broken-agent.js";
import { withAt } from "./json.js";
import { answers, chunk, IN_RESULT } from "./messages.js";
import type { SeenRequest } from "./watch.js";

/** Sends what `isTwice` accepts two times to the client. */
const twice = (isTwice: (answered: SeenRequest | undefined) => boolean): Fault => ({
  fromAgent: (message, wire, answered) => {
    wire.toClient(message);
    if (isTwice(answered)) wire.toClient(message);
  },
});

const stopReasonOf = (message: { readonly result?: unknown }): unknown =>
  (message.result as { stopReason?: unknown } | undefined)?.stopReason;

/** An update that follows the answer of a turn with that stop reason. */
const speaksAfter = (stopReason: string): Fault => ({
  fromAgent: (message, wire, answered) => {
    wire.toClient(message);
    if (answers(answered, METHOD.prompt) && stopReasonOf(message) === stopReason)
      wire.toClient(chunk(answered.params["sessionId"], "One more thing. "));
  },
});

/** Agents that answer too often, too early, or not as they should. */
export const MISANSWERING_AGENTS: readonly BrokenAgent[] = [
  {
    requirement: "advertised",
    what: "does not say that it can be steered",
    apply: () => ({
      fromAgent: (message, wire, answered) =>
        wire.toClient(answers(answered, METHOD.initialize) ? withAt(message, IN_RESULT, undefined) : message),
    }),
  },
  {
    requirement: "G4.prompt",
    what: "answers the owner of a steered turn twice",
    apply: () =>
      twice((answered) => answers(answered, METHOD.prompt) && (answered.session?.turnSteers.length ?? 0) > 0),
  },
  {
    requirement: "busy.prompt",
    what: "answers a prompt that came while another one ran twice",
    apply: () => twice((answered) => answers(answered, METHOD.prompt) && answered.cameBusy),
  },
  {
    requirement: "G4.steer",
    what: "answers every steer twice",
    apply: () => twice((answered) => answers(answered, METHOD.steering)),
  },
  {
    requirement: "G4.last",
    what: "says something after the owner's answer",
    apply: () => speaksAfter("end_turn"),
  },
  {
    requirement: "G6.quiet",
    what: "says something after `cancelled`",
    apply: () => speaksAfter("cancelled"),
  },
  {
    requirement: "G6.cancelled",
    what: "answers a cancelled turn with `end_turn`",
    apply: () => ({
      fromAgent: (message, wire, answered) => {
        const isWrong = answers(answered, METHOD.prompt) && !answered.session?.question;
        wire.toClient(isWrong ? insteadOfCancelled(message) : message);
      },
    }),
  },
  {
    requirement: "hold.unanswered",
    what: "answers a turn that was cancelled with a permission request open with `end_turn`",
    apply: () => ({
      fromAgent: (message, wire, answered) => {
        const isWrong = answers(answered, METHOD.prompt) && answered.session?.question;
        wire.toClient(isWrong ? insteadOfCancelled(message) : message);
      },
    }),
  },
];

function insteadOfCancelled<Message extends { readonly result?: unknown }>(message: Message): Message {
  return stopReasonOf(message) === "cancelled" ? withAt(message, ["result", "stopReason"], "end_turn") : message;
}
