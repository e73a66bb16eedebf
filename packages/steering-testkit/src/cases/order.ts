import { type Case, verifies } from "./case.js";
import {
  describe,
  drive,
  endStep,
  isInjected,
  nextStep,
  notApplicable,
  occurrences,
  playTurn,
  problems,
  type SentSteer,
  sendSteer,
  speak,
  speaking,
  type TurnEnd,
} from "./play.js";
import type { ModelStep, OpenTurn, Stage } from "./stage.js";

interface Several {
  readonly turn: OpenTurn;
  readonly steers: readonly SentSteer[];
  readonly end: TurnEnd;
}

const times = <Value>(count: number, make: () => Value): readonly Value[] => Array.from({ length: count }, make);

/** One turn with several steers at once while the model speaks. */
async function steerAtOnce(stage: Stage, count: number): Promise<Several> {
  const { turn, step } = await speaking(stage);
  const steers = times(count, () => sendSteer(stage));
  await Promise.all(steers.map(({ settled }) => settled));
  await endStep(stage, step);
  return { turn, steers, end: await drive(stage, turn) };
}

/** One turn with steers one by one: before the model speaks, while it does, and in the runs that follow. */
async function steerOneByOne(stage: Stage, count: number): Promise<Several> {
  const turn = stage.prompt();
  const steers: SentSteer[] = [];
  const steerNow = async (): Promise<void> => {
    if (steers.length >= count) return;
    const steer = sendSteer(stage);
    steers.push(steer);
    await steer.settled;
  };
  await steerStep(stage, await nextStep(stage, turn), steerNow);
  const end = await drive(stage, turn, (step) => steerStep(stage, step, steerNow));
  return { turn, steers, end };
}

async function steerStep(stage: Stage, step: ModelStep, steerNow: () => Promise<void>): Promise<void> {
  await steerNow();
  await speak(stage, step);
  await steerNow();
  await step.end();
}

interface Place {
  readonly step: number;
  readonly offset: number;
}

/** Where the model was first shown the text. */
function firstPlace(steps: readonly ModelStep[], text: string): Place | undefined {
  for (const [step, { texts }] of steps.entries()) {
    const offset = texts.join("\n").indexOf(text);
    if (offset >= 0) return { step, offset };
  }
  return undefined;
}

const isBefore = (one: Place, other: Place): boolean =>
  one.step === other.step ? one.offset < other.offset : one.step < other.step;

/** The steers that the model was shown, as their numbers, in the order in which it was. */
function orderShown({ behind }: Stage, { turn, steers }: Several): readonly number[] {
  const steps = behind.steps(turn.mark);
  const places = steers.map(({ mark }, index) => ({ index, place: firstPlace(steps, mark) }));
  return places
    .filter((found): found is { index: number; place: Place } => found.place !== undefined)
    .sort((one, other) => (isBefore(one.place, other.place) ? -1 : 1))
    .map(({ index }) => index);
}

const isAscending = (numbers: readonly number[]): boolean =>
  numbers.every((number, index) => index === 0 || number > (numbers[index - 1] ?? 0));

const inOrder = (title: string, play: (stage: Stage) => Promise<Several>): Case =>
  verifies("G3.order", title, {}, async (stage) => {
    const order = orderShown(stage, await play(stage));
    if (order.length < 2) return notApplicable(`${order.length} of the steers reached the model`);
    return problems(!isAscending(order) && `sent in the order 0, 1, 2 …, shown in the order ${order.join(", ")}`);
  });

const once = (title: string, play: (stage: Stage) => Promise<Several>): Case =>
  verifies("G2.once", title, {}, async (stage) => {
    const { steers } = await play(stage);
    await playTurn(stage);
    const twice = steers.filter(({ mark }) => stage.behind.steps(mark).some((step) => occurrences(step, mark) > 1));
    return problems(twice.length > 0 && `the model was shown ${twice.length} of ${steers.length} steers twice`);
  });

/** How often and in which order steers reach the model. */
export const ORDER_CASES: readonly Case[] = [
  once("one steer", (stage) => steerAtOnce(stage, 1)),
  once("ten steers at once", (stage) => steerAtOnce(stage, 10)),
  once("four steers one by one", (stage) => steerOneByOne(stage, 4)),
  inOrder("two steers at once", (stage) => steerAtOnce(stage, 2)),
  inOrder("ten steers at once", (stage) => steerAtOnce(stage, 10)),
  inOrder("four steers one by one", (stage) => steerOneByOne(stage, 4)),
  verifies("G3.flood", "a hundred steers at once", {}, async (stage) => {
    const { steers, end } = await steerAtOnce(stage, 100);
    const answers = await Promise.all(steers.map(({ settled }) => settled));
    const refused = answers.filter((answer) => !isInjected(answer));
    const shown = steers.filter(({ mark }) => stage.behind.steps(mark).length > 0);
    if (shown.length === 0 && refused.length === 0) return notApplicable("no steer reached the model at all");
    const [first] = refused;
    return problems(
      first !== undefined && `${refused.length} of 100 were not taken, the first: ${describe(first)}`,
      shown.length < 100 - refused.length &&
        `${100 - refused.length - shown.length} of 100 were taken and never shown to the model (turn: ${describe(end)})`,
    );
  }),
];
