import { type Case, type Finding, verifies } from "./case.js";
import {
  describe,
  drive,
  endStep,
  isInjected,
  notApplicable,
  problems,
  type Settled,
  type Speaking,
  sendSteer,
  speaking,
  steeringOf,
  wasShown,
} from "./play.js";
import type { Stage } from "./stage.js";

async function finish(stage: Stage, { turn, step }: Speaking): Promise<void> {
  await endStep(stage, step);
  await drive(stage, turn);
}

const isName = (value: unknown): value is string => typeof value === "string" && value !== "";

function judgeBound(first: Settled, second: Settled, clientMessageId: string): Finding {
  const [one, other] = [steeringOf(first), steeringOf(second)];
  return problems(
    !isName(one["messageId"]) && `the messageId is ${JSON.stringify(one["messageId"])}`,
    !isName(one["turnId"]) && `the turnId is ${JSON.stringify(one["turnId"])}`,
    one["messageId"] === other["messageId"] && "two steers have one messageId",
    one["turnId"] !== other["turnId"] && "two steers of one turn name two turns",
    one["clientMessageId"] !== clientMessageId && "the clientMessageId does not come back",
  );
}

/** How a steer is named, and what can be said with the names. */
export const NAME_CASES: readonly Case[] = [
  verifies("result.names", "while idle", {}, async (stage) => {
    const answer = await sendSteer(stage, { meta: { idleBehavior: "promptRequired" } }).settled;
    const { messageId, detail } = steeringOf(answer);
    if (answer.result["outcome"] !== "promptRequired") return notApplicable(`answered ${describe(answer)}`);
    return problems(
      !isName(messageId) && `the messageId is ${JSON.stringify(messageId)}`,
      detail !== "idle" && `the detail is ${JSON.stringify(detail)}`,
    );
  }),
  verifies("result.names", "while the model speaks", { needs: ["model"] }, async (stage) => {
    const clientMessageId = `mine-${stage.mark()}`;
    const open = await speaking(stage);
    const answers = [
      await sendSteer(stage, { meta: { clientMessageId } }).settled,
      await sendSteer(stage).settled,
    ] as const;
    await finish(stage, open);
    if (!answers.every(isInjected)) return notApplicable(`answered ${answers.map(describe).join(" and ")}`);
    return judgeBound(...answers, clientMessageId);
  }),
  verifies("result.repeat", "while the model speaks", {}, async (stage) => {
    const meta = { clientMessageId: `mine-${stage.mark()}` };
    const open = await speaking(stage);
    const first = await sendSteer(stage, { meta }).settled;
    const repeat = sendSteer(stage, { meta });
    const second = await repeat.settled;
    await finish(stage, open);
    if (!isInjected(first)) return notApplicable(`answered ${describe(first)}`);
    return problems(
      !isInjected(second) && `the repeat was answered ${describe(second)}`,
      steeringOf(first)["messageId"] !== steeringOf(second)["messageId"] && "the repeat has another messageId",
      wasShown(stage, repeat.mark) && "the model was shown the repeat",
    );
  }),
  verifies("result.expected", "another turn than the one that runs", {}, async (stage) => {
    const open = await speaking(stage);
    const steer = sendSteer(stage, { meta: { expectedTurnId: `another-${stage.mark()}` } });
    const answer = await steer.settled;
    await finish(stage, open);
    const { detail } = steeringOf(answer);
    return problems(
      answer.result["outcome"] !== "promptRequired" && `answered ${describe(answer)}`,
      answer.result["outcome"] === "promptRequired" &&
        detail !== "turnMismatch" &&
        `the detail is ${JSON.stringify(detail)}`,
      wasShown(stage, steer.mark) && "the model was shown it",
    );
  }),
  verifies("result.expected", "the turn that runs", {}, async (stage) => {
    const open = await speaking(stage);
    const first = await sendSteer(stage).settled;
    const { turnId } = steeringOf(first);
    const answer = await sendSteer(stage, { meta: { expectedTurnId: turnId } }).settled;
    await finish(stage, open);
    if (!isInjected(first) || !isName(turnId)) return notApplicable("the first steer does not name its turn");
    return problems(!isInjected(answer) && `answered ${describe(answer)}`);
  }),
];
