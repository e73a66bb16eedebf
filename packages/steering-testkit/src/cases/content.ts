import { CODE } from "@acp-steering/core/protocol";
import { type Case, type Finding, verifies } from "./case.js";
import { objectAt } from "./create-stage.js";
import {
  describe,
  drive,
  endStep,
  isInjected,
  notApplicable,
  problems,
  type SentSteer,
  type Settled,
  type SteerParts,
  sendSteer,
  speaking,
  steerText,
  wasShown,
} from "./play.js";
import type { Stage } from "./stage.js";
import { carries } from "./step-queue.js";

/** One red pixel. */
const IMAGE = {
  type: "image",
  mimeType: "image/png",
  data: "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC",
};
const LARGE = 1_000_000;

function takesImages({ advertisement, capabilities }: Stage): boolean {
  const { content } = advertisement;
  if (Array.isArray(content)) return content.includes("image");
  return objectAt(capabilities, "promptCapabilities")["image"] === true;
}

/** Steers a turn while the model speaks, and plays it to its end. */
async function steerTurn(stage: Stage, parts: SteerParts): Promise<{ steer: SentSteer; answer: Settled }> {
  const { turn, step } = await speaking(stage);
  const steer = sendSteer(stage, parts);
  const answer = await steer.settled;
  await endStep(stage, step);
  await drive(stage, turn);
  return { steer, answer };
}

const imagesWith = ({ behind }: Stage, mark: string): number =>
  Math.max(0, ...behind.steps(mark).map(({ images }) => images));

function judgeImage(stage: Stage, { steer, answer }: { steer: SentSteer; answer: Settled }): Finding {
  if (!takesImages(stage))
    return problems(answer.code !== CODE.invalidParams && `images are not taken, answered ${describe(answer)}`);
  if (!isInjected(answer)) return problems(`images are taken, answered ${describe(answer)}`);
  if (!wasShown(stage, steer.mark)) return notApplicable("the text beside the image did not reach the model either");
  return problems(imagesWith(stage, steer.mark) === 0 && "the model was shown the text of the steer without its image");
}

/** Whether a short steer reaches the model, where a long one did not. */
async function shortOneArrives(stage: Stage): Promise<boolean> {
  const { steer } = await steerTurn(stage, {});
  return wasShown(stage, steer.mark);
}

/** What a steer may consist of. */
export const CONTENT_CASES: readonly Case[] = [
  verifies("content.image", "text and an image", {}, async (stage) => {
    const mark = stage.mark();
    const prompt = [{ type: "text", text: steerText(mark) }, IMAGE];
    return judgeImage(stage, await steerTurn(stage, { mark, prompt }));
  }),
  verifies("content.large", "a million characters", { fresh: true }, async (stage) => {
    const mark = stage.mark();
    const text = `${mark}${"x".repeat(LARGE - 2 * mark.length)}${mark}`;
    const { answer } = await steerTurn(stage, { mark, prompt: [{ type: "text", text }] });
    if (!isInjected(answer)) return problems(`answered ${describe(answer)}`);
    const steps = stage.behind.steps(mark);
    if (steps.some((step) => carries(step, text))) return problems();
    if (steps.length > 0) return problems("the model was shown only a part of it");
    if (!(await shortOneArrives(stage))) return notApplicable("a short steer did not reach the model either");
    return problems("answered injected, and the model was never shown it");
  }),
];
