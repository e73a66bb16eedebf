// What the bridge costs: a token's way to the client, a flood of them, eight turns at once, memory, the end of the process.
import { median, row } from "../../../scripts/bench-row.mjs";
import { createHome, Editor, timeOfDay } from "./support.mjs";

const TOKENS = 400;
const DELTAS = 20_000;
const SESSIONS = 8;

export async function run() {
  const home = await createHome();
  const editor = new Editor(home.folder);
  try {
    await editor.request("initialize", { protocolVersion: 1, clientCapabilities: {} });
    const sessionId = await editor.open(home.folder);
    return [
      await tokens(editor, sessionId),
      ...(await flood(editor, sessionId)),
      await together(editor, home.folder),
      row("memory of the Node side, at most so far", await editor.peakMemory(), "at most 90", "MB"),
      await killed(editor, sessionId),
    ];
  } finally {
    await editor.close();
    await home.remove();
  }
}

async function tokens(editor, sessionId) {
  const delays = [];
  editor.onUpdate = ({ content }) => {
    const said = Number(content?.text) / 1e6;
    if (said) delays.push(timeOfDay() - said);
  };
  await editor.prompt(sessionId, `tokens ${TOKENS}`);
  const worst = Math.max(...delays);
  return row(
    "a token, from Hermes' callback to the client, median",
    median(delays),
    "at most 2",
    "ms",
    `${delays.length} tokens, worst ${worst.toFixed(1)} ms`,
  );
}

async function flood(editor, sessionId) {
  let text = "";
  editor.onUpdate = ({ sessionUpdate, content }) => {
    if (sessionUpdate === "agent_message_chunk") text += content.text;
  };
  const begun = performance.now();
  await editor.prompt(sessionId, `flood ${DELTAS}`);
  const took = performance.now() - begun;
  const numbers = text.split(" ").filter(Boolean).map(Number).slice(0, DELTAS);
  const misplaced = numbers.filter((number, index) => number !== index).length + (DELTAS - numbers.length);
  return [
    row(`${DELTAS} deltas at once: lost or out of order`, misplaced, "at most 0", "", `${took.toFixed(0)} ms for all`),
  ];
}

async function together(editor, cwd) {
  let met = 0;
  editor.onUpdate = ({ content }) => {
    if (content?.text === "together ") met += 1;
  };
  const sessions = await Promise.all(Array.from({ length: SESSIONS }, () => editor.open(cwd)));
  await Promise.all(sessions.map((sessionId) => editor.prompt(sessionId, "together 20")));
  return row("turns of as many sessions that ran at once", met, `at least ${SESSIONS}`);
}

async function killed(editor, sessionId) {
  const waiting = new Promise((resolve) => {
    editor.onUpdate = resolve;
  });
  const answer = editor.prompt(sessionId, "wait 30");
  await waiting;
  const begun = performance.now();
  process.kill(editor.hermes, "SIGKILL");
  const { error } = await answer;
  const took = performance.now() - begun;
  return row("kill -9 of Hermes: until the prompt has failed", took, "at most 1000", "ms", error?.message.slice(0, 60));
}
