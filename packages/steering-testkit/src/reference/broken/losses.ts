import type { RequirementId } from "../../requirements/requirements.js";
import type { Answer } from "../chat-model.js";
import type { BrokenAgent, Workings } from "./broken-agent.js";
import { saysWhenIdle, without } from "./messages.js";
import type { SeenSteer } from "./watch.js";

/** Agents that answer `injected` and keep some steers from the model for good. */
export const LOSING_AGENTS: readonly BrokenAgent[] = [
  loses(
    "G1.running",
    "loses a steer that comes while the model speaks, unless it says what to do while idle",
    (steer) => steer.moment === "speaking" && !saysWhenIdle(steer),
  ),
  loses("G1.tool", "loses a steer that comes while a tool runs", ({ moment }) => moment === "working"),
  loses("G1.early", "loses a steer that comes before the model's first word", ({ moment }) => moment === "asked"),
  loses("G1.with-prompt", "loses a steer that comes with its prompt", ({ moment }) => moment === "unasked"),
  {
    requirement: "G1.boundary",
    what: "loses a steer that comes between the model's last word and the owner's answer",
    apply: (workings) => {
      const { ask } = losing(workings, ({ moment }) => moment === "finished");
      return {
        ask: async (question) => {
          const answer = await ask(question);
          workings.watch.note(question.sessionId, "finished");
          await tidyUp();
          return answer;
        },
      };
    },
  },
  loses(
    "hold.rejected",
    "loses a steer that came during a permission request, once that is rejected",
    ({ question }) => question?.chosen === "reject",
  ),
];

const NOTHING: Answer = { message: { role: "assistant", content: "" }, finishReason: "stop" };

type IsLost = (steer: SeenSteer) => boolean;

function loses(requirement: RequirementId, what: string, isLost: IsLost): BrokenAgent {
  return { requirement, what, apply: (workings) => losing(workings, isLost) };
}

function losing({ watch, askModel }: Workings, isLost: IsLost): { ask: Workings["askModel"] } {
  return {
    ask: async (question) => {
      const lost = watch.at(question.sessionId)?.steers.filter(isLost) ?? [];
      const messages = without(question.messages, lost);
      // Who has lost a steer does not know that there is something to ask about.
      return messages.at(-1)?.role === "assistant" ? NOTHING : askModel({ ...question, messages });
    },
  };
}

/** Some rounds of the event loop, in which an agent writes its session to disk and the like. */
async function tidyUp(): Promise<void> {
  for (let round = 0; round < 15; round += 1) await new Promise((resolve) => setImmediate(resolve));
}
