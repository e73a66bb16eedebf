import type { AnswerFacts, SceneFacts } from "./scene-event.js";

/** The scene as a few lines of text: which model requests each turn had, and where the steer came in. */
export function timelineOf(facts: SceneFacts): readonly string[] {
  const { owner, steer, idleSteer, ownTurn } = facts;
  const before = steps(owner.modelRequestsBefore, steer.modelRequestsBefore);
  const after = steps(steer.modelRequestsBefore, owner.modelRequestsAfter, facts.steerSeen.request);
  const untilSteer = `turn 1   prompt ──${before}`;
  return [
    `${untilSteer}◆──${after}▶ ${ending(owner)}`,
    `${" ".repeat(untilSteer.length)}╰ steer: ${outcome(steer)}${seenIn(facts.steerSeen.request)}`,
    `idle     steer ──▶ ${outcome(idleSteer)}`,
    `turn 2   prompt ──${steps(ownTurn.modelRequestsBefore, ownTurn.modelRequestsAfter)}▶ ${ending(ownTurn)}`,
  ];
}

function steps(after: number, until: number, marked?: number): string {
  const numbers = Array.from({ length: Math.max(0, until - after) }, (_, index) => after + index + 1);
  return numbers.map((number) => `${number === marked ? `[${number}]` : number}──`).join("");
}

const seenIn = (request: number | undefined): string =>
  request === undefined ? "" : `, seen by the model in request ${request}`;
const outcome = ({ result, error }: AnswerFacts): string =>
  error === undefined ? String(result?.["outcome"] ?? "no answer") : `error ${error.code}`;
const ending = ({ result, error }: AnswerFacts): string =>
  error === undefined ? String(result?.["stopReason"] ?? "no answer") : `error ${error.code}`;
