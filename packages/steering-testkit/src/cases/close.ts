import { CODE, METHOD } from "@acp-steering/core/protocol";
import { type Case, verifies } from "./case.js";
import { describe, drive, nextStep, problems, sendSteer, settle, speak, wasShown } from "./play.js";
import type { Stage } from "./stage.js";

const close = (stage: Stage): ReturnType<typeof settle> =>
  stage.until(
    "the session to be closed",
    settle(stage.client.request(METHOD.closeSession, { sessionId: stage.sessionId })),
  );

/** A session that is closed. */
export const CLOSE_CASES: readonly Case[] = [
  verifies("close.refused", "a steer after the close", { fresh: true }, async (stage) => {
    const closed = await close(stage);
    if (closed.code !== undefined) return problems(`the close was answered ${describe(closed)}`);
    const answer = await sendSteer(stage).settled;
    return problems(answer.code !== CODE.notFound && `answered ${describe(answer)}`);
  }),
  verifies("close.ends", "a close in a steered turn", { fresh: true }, async (stage) => {
    const turn = stage.prompt();
    await speak(stage, await nextStep(stage, turn));
    const steer = sendSteer(stage);
    await steer.settled;
    // A steer that breaks off what the model says may be on its way to it when the close comes.
    const closing = close(stage).then((closed) => ({ closed, shownByThen: wasShown(stage, steer.mark) }));
    const [{ closed, shownByThen }, end] = await Promise.all([closing, drive(stage, turn)]);
    await stage.quiet();
    return {
      ...problems(
        closed.code !== undefined && `the close was answered ${describe(closed)}`,
        !shownByThen && wasShown(stage, steer.mark) && "the steer ran after the close",
      ),
      figure: `the owner got ${describe(end)}`,
    };
  }),
];
