import { type Case, type Finding, verifies } from "./case.js";
import {
  describe,
  drive,
  isInjected,
  occurrences,
  playTurn,
  problems,
  type SentSteer,
  type Settled,
  sendSteer,
  showed,
  speaking,
  type TurnEnd,
} from "./play.js";
import type { ModelStep, OpenTurn, Stage } from "./stage.js";

/** Sends a steer at one point of the end of a turn, once the model may end. */
type Aim = (stage: Stage, step: ModelStep, turn: OpenTurn) => Promise<SentSteer>;

interface Trial {
  readonly when: string;
  readonly steer: SentSteer;
  readonly answer: Settled;
  readonly turn: OpenTurn;
  readonly end: TurnEnd;
}

const MACROTASKS = 20;
const ASK = { idleBehavior: "promptRequired" } as const;

const macrotask = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

const afterMacrotasks =
  (count: number): Aim =>
  async (stage, step) => {
    await step.end();
    for (let passed = 0; passed < count; passed += 1) await macrotask();
    return sendSteer(stage, { meta: ASK });
  };

/** Deterministic points around the model's last byte. Those of real time belong to the wire check. */
const AIMS: readonly (readonly [string, Aim])[] = [
  [
    "before the last byte, in the same tick",
    async (stage, step) => {
      const steer = sendSteer(stage, { meta: ASK });
      await step.end();
      return steer;
    },
  ],
  [
    "after the last byte, in the same tick",
    async (stage, step) => {
      const ended = step.end();
      const steer = sendSteer(stage, { meta: ASK });
      await ended;
      return steer;
    },
  ],
  ...Array.from({ length: MACROTASKS + 1 }, (_, count): readonly [string, Aim] => [
    `${count} macrotasks after the last byte`,
    afterMacrotasks(count),
  ]),
  [
    "right behind the owner's answer",
    async (stage, step, turn) => {
      const ended = step.end();
      await stage.until(
        "the owner's answer",
        turn.answer.catch(() => {}),
      );
      await ended;
      return sendSteer(stage, { meta: ASK });
    },
  ],
];

async function playTrial(stage: Stage, when: string, aim: Aim): Promise<Trial> {
  const { turn, step } = await speaking(stage);
  const steer = await stage.until("the agent to take the model's answer", aim(stage, step, turn));
  const [answer, end] = await Promise.all([steer.settled, drive(stage, turn)]);
  return { when, steer, answer, turn, end };
}

/** All trials in one session, and one more prompt: what leaks from one is seen in the next. */
async function playTrials(stage: Stage): Promise<readonly Trial[]> {
  const trials: Trial[] = [];
  for (const [when, aim] of AIMS) trials.push(await playTrial(stage, when, aim));
  await playTurn(stage);
  await stage.quiet();
  return trials;
}

const played = new WeakMap<Stage, Promise<readonly Trial[]>>();

/** The trials of a stage are played once, for all that judge them. */
function trialsOf(stage: Stage): Promise<readonly Trial[]> {
  const trials = played.get(stage) ?? playTrials(stage);
  played.set(stage, trials);
  return trials;
}

function judge(
  title: string,
  requirement: Case["requirement"],
  fault: (trial: Trial, stage: Stage) => false | undefined | string,
): Case {
  return verifies(requirement, title, {}, async (stage): Promise<Finding> => {
    const trials = await trialsOf(stage);
    const found = trials.map((trial) => {
      const problem = fault(trial, stage);
      return problem && `${trial.when}: ${problem}`;
    });
    const injected = trials.filter(({ answer }) => isInjected(answer)).length;
    return { ...problems(...found), figure: `${injected} of ${trials.length} injected` };
  });
}

const everShown = (stage: Stage, { mark }: SentSteer): boolean => stage.behind.steps(mark).length > 0;

/** What holds at the end of a turn, at points of the event loop: for an agent in this process. */
export const BOUNDARY_CASES: readonly Case[] = [
  judge("at the end of a turn", "G1.boundary", ({ steer, answer, end }, stage) => {
    return isInjected(answer) && !everShown(stage, steer) && `injected, and lost (turn: ${describe(end)})`;
  }),
  judge("at the end of a turn", "G2.once", ({ steer }, stage) => {
    const twice = stage.behind.steps(steer.mark).some((step) => occurrences(step, steer.mark) > 1);
    return twice && "the model was shown it twice";
  }),
  judge("at the end of a turn", "G7.turn", ({ steer, answer, end }, stage) => {
    return (
      isInjected(answer) &&
      !showed(end.steps, steer.mark) &&
      everShown(stage, steer) &&
      "injected, and first shown to the model in a later turn"
    );
  }),
  judge("at the end of a turn", "G5.nothing", ({ steer, answer }, stage) => {
    return answer.result["outcome"] === "promptRequired" && everShown(stage, steer) && "promptRequired, and it ran";
  }),
  judge("at the end of a turn", "G4.steer", ({ steer }, { client }) => {
    const count = client.answersTo(steer.id).length;
    return count !== 1 && `the steer was answered ${count} times`;
  }),
  judge("at the end of a turn", "G4.prompt", ({ turn }, { client }) => {
    const count = client.answersTo(turn.id).length;
    return count !== 1 && `the prompt was answered ${count} times`;
  }),
];
