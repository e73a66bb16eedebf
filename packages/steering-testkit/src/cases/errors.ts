import { CODE, METHOD } from "@acp-steering/core/protocol";
import { type Case, type Finding, verifies } from "./case.js";
import { type MalformedSteer, malformedSteers } from "./malformed.js";
import {
  describe,
  drive,
  endStep,
  nextStep,
  playTurn,
  problems,
  type Settled,
  sendSteer,
  settle,
  speaking,
  steerParams,
  wasShown,
} from "./play.js";
import type { Stage } from "./stage.js";

interface Refusal extends MalformedSteer {
  readonly answer: Settled;
}

/** Sends all of them at once. */
function sendMalformed(stage: Stage, mark: string): Promise<readonly Refusal[]> {
  const { client, sessionId, until } = stage;
  return Promise.all(
    malformedSteers(sessionId, mark).map(async (malformed) => ({
      ...malformed,
      answer: await until(
        `the answer to a steer with ${malformed.name}`,
        settle(client.request(METHOD.steering, malformed.params)),
      ),
    })),
  );
}

const notRefused = (refusals: readonly Refusal[]): readonly string[] =>
  refusals
    .filter(({ answer }) => answer.code !== CODE.invalidParams)
    .map(({ name, answer }) => `${name}: answered ${describe(answer)}`);

async function judgeSession(stage: Stage, sessionId: string): Promise<Finding> {
  const answer = await sendSteer(stage, { sessionId }).settled;
  return problems(answer.code !== CODE.notFound && `answered ${describe(answer)}`);
}

/** What is refused, and that nothing comes of it. */
export const ERROR_CASES: readonly Case[] = [
  verifies("error.session", "while idle", {}, (stage) => judgeSession(stage, `no-such-session-${stage.mark()}`)),
  verifies("error.session", "while a turn runs in another", { needs: ["model"] }, async (stage) => {
    const turn = stage.prompt();
    const step = await nextStep(stage, turn);
    const finding = await judgeSession(stage, `no-such-session-${stage.mark()}`);
    await endStep(stage, step);
    await drive(stage, turn);
    return finding;
  }),
  verifies("error.malformed", "while idle", {}, async (stage) =>
    problems(...notRefused(await sendMalformed(stage, stage.mark()))),
  ),
  verifies("error.malformed", "while idle, and the prompt after it", { needs: ["model"] }, async (stage) => {
    const mark = stage.mark();
    await sendMalformed(stage, mark);
    await playTurn(stage);
    return problems(wasShown(stage, mark) && "the model was shown the content of a malformed steer");
  }),
  verifies("error.malformed", "while a turn runs", { needs: ["model"] }, async (stage) => {
    const mark = stage.mark();
    const { turn, step } = await speaking(stage);
    for (const problem of notRefused(await sendMalformed(stage, mark))) stage.note(problem);
    await endStep(stage, step);
    const end = await drive(stage, turn);
    return problems(
      end.result["stopReason"] !== "end_turn" && `the turn that ran ended with ${describe(end)}`,
      wasShown(stage, mark) && "the model was shown the content of a malformed steer",
    );
  }),
  verifies("error.path", "while idle", {}, async (stage) => {
    const refusals = await sendMalformed(stage, stage.mark());
    const wrong = refusals.filter(
      ({ answer, path }) => answer.code === CODE.invalidParams && answer.data["path"] !== path,
    );
    return problems(
      ...wrong.map(({ name, path, answer }) => `${name}: ${JSON.stringify(answer.data["path"])} instead of "${path}"`),
    );
  }),
  verifies("error.notification", "while idle", {}, async (stage) => {
    const mark = stage.mark();
    stage.client.notify(METHOD.steering, steerParams(stage, mark));
    await stage.quiet();
    await playTurn(stage);
    return problems(wasShown(stage, mark) && "the model was shown it");
  }),
  verifies("error.notification", "while a turn runs", {}, async (stage) => {
    const mark = stage.mark();
    const { turn, step } = await speaking(stage);
    stage.client.notify(METHOD.steering, steerParams(stage, mark));
    await stage.quiet();
    await endStep(stage, step);
    await drive(stage, turn);
    await playTurn(stage);
    return problems(wasShown(stage, mark) && "the model was shown it");
  }),
];
