import { type Case, verifies } from "./case.js";
import { describe, drive, endStep, problems, settle, showed, speaking, steerText } from "./play.js";

/** Steering by what a user types. */
export const COMMAND_CASES: readonly Case[] = [
  verifies("command.steer", "/steer as a prompt while the model speaks", {}, async (stage) => {
    const { turn, step } = await speaking(stage);
    const mark = stage.mark();
    const command = stage.client.prompt(stage.sessionId, `/steer ${steerText(mark)}`);
    const answer = await stage.until("the answer to /steer while the turn runs", settle(command.answer));
    const endedBefore = stage.client.answersTo(turn.id).length > 0;
    await endStep(stage, step);
    const { steps } = await drive(stage, turn);
    return problems(
      answer.result["stopReason"] !== "end_turn" && `/steer was answered ${describe(answer)}`,
      endedBefore && "the turn was over before /steer was answered",
      !showed(steps, mark) && "the model was not shown its text in that turn",
    );
  }),
];
