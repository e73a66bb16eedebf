import { CODE, REASON } from "@acp-steering/core/protocol";
import { type Case, type Finding, verifies } from "./case.js";
import {
  describe,
  drive,
  letRun,
  notApplicable,
  playTurn,
  problems,
  type SentSteer,
  type Settled,
  sendSteer,
  wasShown,
} from "./play.js";
import type { Stage } from "./stage.js";

const ASK = { idleBehavior: "promptRequired" } as const;

const isPromptRequired = ({ result }: Settled): boolean => result["outcome"] === "promptRequired";

function judgeAnswer(answer: Settled): Finding {
  if (!isPromptRequired(answer)) return problems(`answered ${describe(answer)}`);
  const { reason } = answer.result;
  return problems(reason !== REASON.noRunningTurn && `the reason is ${JSON.stringify(reason)}`);
}

/** The model was not asked because of a steer, and is not shown it with the next prompt either. */
async function judgeNothing(stage: Stage, steer: SentSteer): Promise<Finding> {
  const answer = await steer.settled;
  if (!isPromptRequired(answer)) return notApplicable(`the steer was answered ${describe(answer)}`);
  const asked = await letRun(stage, steer.mark);
  stage.note(asked > 0 && `the model was asked ${asked} times`);
  await playTurn(stage);
  return problems(asked === 0 && wasShown(stage, steer.mark) && "the model was shown it with the next prompt");
}

/** What each policy answers to a client that declared receipts. */
const POLICIES: Readonly<Record<string, (answer: Settled) => boolean>> = {
  promptRequired: isPromptRequired,
  startNewTurn: ({ result }) => result["outcome"] === "startedNewTurn",
  reject: ({ code, data }) => code === CODE.invalidRequest && data["reason"] === REASON.noRunningTurn,
};

/** What a steer does where no turn runs. */
export const IDLE_CASES: readonly Case[] = [
  verifies("advertised", "initialize", {}, async ({ advertisement }) =>
    problems(advertisement["supported"] !== true && `_meta.steering is ${JSON.stringify(advertisement)} in its result`),
  ),
  verifies("G5.answer", "in a new session", { newSession: true }, async (stage) =>
    judgeAnswer(await sendSteer(stage, { meta: ASK }).settled),
  ),
  verifies("G5.answer", "after a turn", { needs: ["model"] }, async (stage) => {
    await drive(stage, stage.prompt());
    return judgeAnswer(await sendSteer(stage, { meta: ASK }).settled);
  }),
  verifies("G5.nothing", "in a new session", { newSession: true }, (stage) =>
    judgeNothing(stage, sendSteer(stage, { meta: ASK })),
  ),
  verifies("G5.nothing", "after a turn", {}, async (stage) => {
    await playTurn(stage);
    return judgeNothing(stage, sendSteer(stage, { meta: ASK }));
  }),
  verifies("G5.policy", "a steer that asks for nothing", { fresh: true, wishes: { receipts: true } }, async (stage) => {
    const { idleBehavior } = stage.advertisement;
    const isRight = POLICIES[String(idleBehavior)];
    if (isRight === undefined) return problems(`advertised is ${JSON.stringify(idleBehavior)}, which is no policy`);
    const steer = sendSteer(stage);
    const answer = await steer.settled;
    if (answer.result["outcome"] === "startedNewTurn") await letRun(stage, steer.mark);
    return problems(!isRight(answer) && `advertised is ${String(idleBehavior)}, answered ${describe(answer)}`);
  }),
];
