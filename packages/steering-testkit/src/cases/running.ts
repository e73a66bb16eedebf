import { METHOD } from "@acp-steering/core/protocol";
import { type Case, type Finding, verifies } from "./case.js";
import {
  describe,
  drive,
  endStep,
  isInjected,
  nextStep,
  notApplicable,
  playTurn,
  problems,
  type SentSteer,
  type Settled,
  sendSteer,
  sendTogether,
  showed,
  speaking,
  steerParams,
  type TurnEnd,
  wasShown,
} from "./play.js";
import type { OpenTurn, Stage } from "./stage.js";
import { toolRuns } from "./tool.js";

/** A steer that a turn was given, and how both ended. */
interface Steered {
  readonly mark: string;
  readonly answer: Settled;
  readonly end: TurnEnd;
}

const SPEAKS = "while the model speaks";
const TOOL = "while a tool runs";
const EARLY = "before the first byte of the model";
const FAILS = "in a turn in which the model then fails";
const TOGETHER = "in one write with its prompt";

async function conclude(stage: Stage, turn: OpenTurn, steer: Pick<SentSteer, "mark" | "settled">): Promise<Steered> {
  const [answer, end] = await Promise.all([steer.settled, drive(stage, turn)]);
  return { mark: steer.mark, answer, end };
}

async function steerWhileSpeaking(stage: Stage): Promise<Steered> {
  const { turn, step } = await speaking(stage);
  const steer = sendSteer(stage);
  await steer.settled;
  await endStep(stage, step);
  return conclude(stage, turn, steer);
}

async function steerEarly(stage: Stage): Promise<Steered> {
  const turn = stage.prompt();
  const step = await nextStep(stage, turn);
  const steer = sendSteer(stage);
  await steer.settled;
  await endStep(stage, step);
  return conclude(stage, turn, steer);
}

async function steerBeforeFailure(stage: Stage): Promise<Steered> {
  const turn = stage.prompt();
  const step = await nextStep(stage, turn);
  const steer = sendSteer(stage);
  const answer = await steer.settled;
  step.fail();
  return { mark: steer.mark, answer, end: await drive(stage, turn, (other) => other.fail()) };
}

async function steerDuringTool(stage: Stage): Promise<Steered> {
  const turn = stage.prompt();
  const tool = await toolRuns(stage, await nextStep(stage, turn));
  const steer = sendSteer(stage);
  await steer.settled;
  await tool.finish();
  return conclude(stage, turn, steer);
}

async function steerWithPrompt(stage: Stage): Promise<Steered> {
  const { sessionId } = stage;
  const [promptMark, mark] = [stage.mark(), stage.mark()];
  const prompt = [{ type: "text", text: `Answer with the word ${promptMark} and do nothing else.` }];
  const [owner, steer] = sendTogether(stage, [
    { method: METHOD.prompt, params: { sessionId, prompt } },
    { method: METHOD.steering, params: steerParams(stage, mark) },
  ]);
  if (owner === undefined || steer === undefined) throw new Error("nothing was sent");
  return conclude(stage, { ...owner, mark: promptMark, sessionId }, { ...steer, mark });
}

/**
 * Lost: the model was never shown it, neither in its turn nor in the one that follows. What comes too late is another
 * requirement's matter.
 */
async function isLost(stage: Stage, { mark, answer, end }: Steered): Promise<Finding> {
  if (!isInjected(answer)) return problems(`answered ${describe(answer)}`);
  if (showed(end.steps, mark)) return problems();
  await playTurn(stage);
  if (wasShown(stage, mark)) return notApplicable("the steer reached the model in the next turn only (G7.turn)");
  return problems(`answered injected, and the model was never shown it (turn: ${describe(end)})`);
}

/** Leaked: the model was first shown it after its turn. */
async function isLeaked(stage: Stage, { mark, answer, end }: Steered): Promise<Finding> {
  if (!isInjected(answer)) return notApplicable(`answered ${describe(answer)}`);
  if (showed(end.steps, mark)) return problems();
  await playTurn(stage);
  return problems(wasShown(stage, mark) && `answered injected, and the model was first shown it in the next turn`);
}

const SITUATIONS: readonly (readonly [string, (stage: Stage) => Promise<Steered>])[] = [
  [SPEAKS, steerWhileSpeaking],
  [EARLY, steerEarly],
  [TOGETHER, steerWithPrompt],
];

/** A steer reaches the model in the turn that it was sent in. */
export const RUNNING_CASES: readonly Case[] = [
  verifies("G1.running", SPEAKS, {}, async (stage) => isLost(stage, await steerWhileSpeaking(stage))),
  verifies("G1.tool", TOOL, {}, async (stage) => isLost(stage, await steerDuringTool(stage))),
  verifies("G1.early", EARLY, {}, async (stage) => isLost(stage, await steerEarly(stage))),
  verifies("G1.with-prompt", TOGETHER, {}, async (stage) => isLost(stage, await steerWithPrompt(stage))),
  ...SITUATIONS.map(([when, steered]) =>
    verifies("G7.turn", when, {}, async (stage) => isLeaked(stage, await steered(stage))),
  ),
  verifies("G7.turn", TOOL, { needs: ["tool"] }, async (stage) => isLeaked(stage, await steerDuringTool(stage))),
  verifies("G7.turn", FAILS, {}, async (stage) => isLeaked(stage, await steerBeforeFailure(stage))),
];
