import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { isTold, type ModelMessage, type ModelRequest, type Reply } from "../model-server/index.js";
import { shellToolbox, type Toolbox, type ToolboxFor } from "./toolbox.js";

/** The name under which the model's answer is held open while the user reads it and steers. */
export const HOLD = "the user reads";

export const PROMPT = "Make the greeting Polish and run check.mjs.";
export const ANNOUNCEMENT = "I will change src/greeting.mjs.";
export const STEER = "no, not that file: src/farewell.mjs";
export const LATE_STEER = "say what you changed";

const GREETING = {
  file: "src/greeting.mjs",
  english: `export const greeting = "Hello";`,
  polish: `export const greeting = "Dzień dobry";`,
};
const FAREWELL = {
  file: "src/farewell.mjs",
  english: `export const farewell = "Goodbye";`,
  polish: `export const farewell = "Do widzenia";`,
};
const CHECK = `import { farewell } from "./src/farewell.mjs";
import { greeting } from "./src/greeting.mjs";

console.log(\`\${greeting} … \${farewell}\`);
`;

/** Writes the small project that the agent works on. */
export async function writeProject(folder: string): Promise<void> {
  await mkdir(join(folder, "src"), { recursive: true });
  await Promise.all([
    ...[GREETING, FAREWELL].map(({ file, english }) => writeFile(join(folder, file), `${english}\n`)),
    writeFile(join(folder, "check.mjs"), CHECK),
  ]);
}

/** Whether the project is as the steer wants it: the greeting untouched, the farewell translated. */
export async function isSteerObeyed(folder: string): Promise<boolean> {
  const read = (file: string): Promise<string> => readFile(join(folder, file), "utf8");
  const [greeting, farewell] = await Promise.all([read(GREETING.file), read(FAREWELL.file)]);
  return greeting === `${GREETING.english}\n` && farewell === `${FAREWELL.polish}\n`;
}

/**
 * What the model answers, as a function of what the request holds and of nothing else: a steer that never reaches the
 * model is never obeyed, and a request that is repeated gets the same answer.
 */
export function storyReply(request: ModelRequest, toolboxFor: ToolboxFor = shellToolbox): Reply {
  const { messages } = request;
  const lateAt = lastMention(messages, LATE_STEER);
  if (lateAt >= 0) return { text: "The farewell, in src/farewell.mjs." };
  const toolbox = toolboxFor(request);
  const steerAt = lastMention(messages, STEER);
  if (steerAt < 0) return unsteered(toolbox, countToolCalls(messages));
  return steered(toolbox, countToolCalls(messages.slice(steerAt)), countToolCalls(messages.slice(0, steerAt)));
}

/** Whether a message of a request tells the model the text. An agent may put what its user says into a tool's message. */
export function mentions(text: string) {
  return ({ text: told }: ModelMessage, index: number, messages: readonly ModelMessage[]): boolean =>
    told.includes(text) && isTold(messages, index);
}

const DONE_UNSTEERED: Reply = { text: "Done: the greeting is Polish." };
const DONE_STEERED: Reply = { text: "Done: the farewell is Polish." };

// The third call comes with the announcement of the wrong file; with the fourth the model changes it.
const CALLS_BEFORE_CHANGE = 3;

function unsteered(toolbox: Toolbox | undefined, toolCalls: number): Reply {
  if (toolbox === undefined) return { text: ANNOUNCEMENT, hold: HOLD, holdAt: "afterText" };
  const steps: readonly Reply[] = [
    { reasoning: "I do not know this project yet.", text: "I look around first.", toolCalls: [toolbox.list()] },
    { text: "Two modules. I open the greeting.", toolCalls: [toolbox.read(GREETING.file)] },
    { text: ANNOUNCEMENT, toolCalls: [toolbox.read("check.mjs")], hold: HOLD, holdAt: "afterText" },
    { text: "I change it.", toolCalls: [toolbox.rewrite(GREETING.file, GREETING.english, GREETING.polish)] },
    { text: "I run the check.", toolCalls: [toolbox.run("node check.mjs")] },
  ];
  return steps[toolCalls] ?? DONE_UNSTEERED;
}

function steered(toolbox: Toolbox | undefined, callsSince: number, callsBefore: number): Reply {
  if (toolbox === undefined) return { text: "Understood: not that file." };
  const isGreetingChanged = callsBefore > CALLS_BEFORE_CHANGE;
  const steps: readonly Reply[] = [
    {
      text: "Understood: the farewell it is.",
      toolCalls: [
        toolbox.rewrite(FAREWELL.file, FAREWELL.english, FAREWELL.polish),
        ...(isGreetingChanged ? [toolbox.rewrite(GREETING.file, GREETING.polish, GREETING.english)] : []),
      ],
    },
    { text: "Now the check.", toolCalls: [toolbox.run("node check.mjs")] },
  ];
  const callsPerStep = isGreetingChanged ? [0, 2] : [0, 1];
  return steps[callsPerStep.indexOf(callsSince)] ?? DONE_STEERED;
}

function lastMention(messages: readonly ModelMessage[], text: string): number {
  return messages.findLastIndex(mentions(text));
}

function countToolCalls(messages: readonly ModelMessage[]): number {
  return messages.reduce((sum, { toolCalls = [] }) => sum + toolCalls.length, 0);
}
