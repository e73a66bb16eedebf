import type { InjectCall, SteeringDriver, Verdict } from "../../src/index.js";
import type { History } from "./history.js";
import type { InjectScript } from "./scenario.js";
import type { Schedule } from "./schedule.js";

/** A driver whose verdicts and reports follow a script, each when the schedule says so. Takes text alone. */
export function scriptedDriver(scripts: readonly InjectScript[], schedule: Schedule, history: History): SteeringDriver {
  let calls = 0;

  const report = async ({ report: said }: InjectScript, call: InjectCall, number: number): Promise<void> => {
    if (!said) return;
    await schedule.pass(`driver reports ${number}`);
    history.record({ kind: "reported", messageId: call.messageId, report: said });
    call[said]();
  };

  const verdictOf = async (script: InjectScript, call: InjectCall, number: number): Promise<Verdict> => {
    if (script.reportsFirst) await report(script, call, number);
    await schedule.pass(`driver ${number}`);
    const { messageId } = call;
    if (script.verdict === "never") return new Promise(() => {});
    history.record({ kind: "verdict", messageId, verdict: script.verdict === "throws" ? "thrown" : script.verdict });
    if (script.verdict === "throws") throw new Error("scripted");
    if (!script.reportsFirst) void report(script, call, number);
    return script.verdict;
  };

  return {
    spec: "steering-driver-1",
    supports: { content: ["text"], boundary: "nextStep" },
    inject: (call) => {
      const { sessionId, turnId, messageId, prompt } = call;
      history.record({ kind: "injected", sessionId, turnId, messageId, text: JSON.stringify(prompt) });
      call.signal.addEventListener("abort", () => history.record({ kind: "aborted", messageId }));
      const script = scripts[calls % scripts.length] as InjectScript;
      calls += 1;
      return verdictOf(script, call, calls);
    },
  };
}
