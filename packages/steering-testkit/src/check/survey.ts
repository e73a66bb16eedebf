import { describe, settle } from "../cases/play.js";
import type { ModelStep, OpenTurn, Stage } from "../cases/stage.js";
import type { Need } from "../requirements/requirement.js";

/** For each need that is not met: why. What is not in it is met. */
export type Unmet = ReadonlyMap<Need, string>;

/** What one turn showed of an agent, beside what it says of itself. */
export interface Sighting {
  readonly hasShell: boolean;
  /** It asked the client before it ran a command. */
  readonly asksPermission: boolean;
  /** The results of its steers carry a `messageId`. */
  readonly names: boolean;
  /** It announces `/steer`. */
  readonly commands: boolean;
}

/** Of an agent that could not be looked at. */
export const NOTHING_SEEN: Sighting = { hasShell: false, asksPermission: false, names: false, commands: false };

/** A harmless command that no agent takes for one that only reads, and so asks for where it asks at all. */
const COMMAND = "echo steered > steered.txt";

/**
 * Plays one turn with a command in it, and steers once while the agent is idle.
 *
 * Rejects where the turn cannot be played; with `behind: false` there is no turn.
 */
export async function survey(stage: Stage, { behind }: { readonly behind: boolean }): Promise<Sighting> {
  const turn = behind ? await surveyTurn(stage) : { hasShell: false, asksPermission: false };
  const names = await givesNames(stage);
  await stage.quiet();
  return { ...turn, names, commands: announces(stage, "steer") };
}

/** Which needs an agent does not meet, by what it says of itself and by what was seen of it. */
export function unmetNeeds(
  stage: Pick<Stage, "advertisement" | "capabilities" | "boundary">,
  seen: Sighting,
): Map<Need, string> {
  const { advertisement, capabilities, boundary } = stage;
  const found: readonly (readonly [Need, boolean, string])[] = [
    ["tool", seen.hasShell, "the agent offers its model no shell tool"],
    ["permission", seen.asksPermission, "the agent did not ask before it ran a command"],
    ["receipts", advertisement["receipts"] === true, "the agent does not advertise receipts"],
    ["revoke", advertisement["revoke"] === true, "the agent does not advertise revoke"],
    ["idlePolicy", advertisement["idleBehavior"] !== undefined, "the agent does not advertise an idleBehavior"],
    ["names", seen.names, "the agent's results carry no messageId"],
    ["close", flag(capabilities, "sessionCapabilities", "close"), "the agent does not advertise session/close"],
    ["driver", boundary !== undefined, "what the agent's driver promises is not known here"],
    ["commands", seen.commands, "the agent does not announce /steer"],
  ];
  return new Map(found.filter(([, isMet]) => !isMet).map(([need, , why]) => [need, why]));
}

async function surveyTurn(stage: Stage): Promise<Pick<Sighting, "hasShell" | "asksPermission">> {
  const from = stage.client.log.length;
  const turn = stage.prompt();
  const first = await stage.until("the agent's first request to the model", firstStep(stage, turn));
  const over = new AbortController();
  const running = runOnce(stage, turn, first, over.signal);
  await stage.until("the answer to a prompt with a command in it", turn.answer);
  over.abort();
  const hasShell = await running;
  const asked = stage.since(from).some(({ message }) => message?.method === "session/request_permission");
  return { hasShell, asksPermission: asked };
}

/** Runs the command with the first request that offers a shell, which need not be the first: some ask for a title. */
async function runOnce(stage: Stage, turn: OpenTurn, first: ModelStep, signal: AbortSignal): Promise<boolean> {
  let hasRun = false;
  for (let step: ModelStep | undefined = first; step !== undefined; ) {
    if (step.hasShell && !hasRun) {
      hasRun = true;
      step.run(COMMAND, { asking: true });
    } else await step.end();
    step = await stage.behind.next(turn.mark, signal).catch(() => undefined);
  }
  return hasRun;
}

/** Rejects with what the agent answers where it answers without having asked. */
async function firstStep({ behind }: Stage, { mark, answer }: OpenTurn): Promise<ModelStep> {
  const unasked = settle(answer).then((end) => {
    throw new Error(`it answered the prompt with ${describe(end)} instead`);
  });
  return Promise.race([behind.next(mark), unasked]);
}

async function givesNames({ client, sessionId, until }: Stage): Promise<boolean> {
  const steer = client.steer(sessionId, "Is anybody there?", { idleBehavior: "promptRequired" });
  const result = await until(
    "the answer to a steer while idle",
    steer.catch(() => undefined),
  );
  return typeof result?._meta?.steering?.["messageId"] === "string";
}

function announces({ client, sessionId }: Stage, command: string): boolean {
  const announced = client
    .updates(sessionId)
    .filter((update) => update["sessionUpdate"] === "available_commands_update")
    .at(-1)?.["availableCommands"];
  return Array.isArray(announced) && announced.some(({ name }: { name?: unknown }) => name === command);
}

const flag = (capabilities: Readonly<Record<string, unknown>>, group: string, name: string): boolean => {
  const value = (capabilities[group] as Record<string, unknown> | null | undefined)?.[name];
  return value !== undefined && value !== null && value !== false;
};
