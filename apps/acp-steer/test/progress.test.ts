import { describe, expect, test } from "vitest";
import { Progress } from "../src/check/progress.js";
import { caseReport, checkReport } from "./report.js";

/** What a whole check shows on a stream. */
function shown(stream: { isTTY: boolean; columns: number }): string {
  let text = "";
  const progress = new Progress({
    ...stream,
    write: (chunk: string | Uint8Array) => {
      text += String(chunk);
      return true;
    },
  });
  progress.onEvent({ type: "agent", agent: { command: ["a"], name: "some-agent", version: "1.2.3" } });
  progress.onEvent({ type: "case", requirement: "G1.running", title: "while it speaks", number: 1, of: 2 });
  progress.onEvent({ type: "caseDone", report: caseReport() });
  progress.onEvent({ type: "case", requirement: "G1.tool", title: "in a tool", number: 2, of: 2 });
  progress.onEvent({
    type: "caseDone",
    report: caseReport({ requirement: "G1.tool", title: "in a tool", verdict: "fail" }),
  });
  for (let number = 1; number <= 60; number += 1) progress.onEvent({ type: "trial", number, of: 60 });
  progress.onEvent({ type: "done", report: checkReport([]) });
  return text;
}

describe("progress", () => {
  test("a pipe gets a few plain lines", () => {
    expect(shown({ isTTY: false, columns: 80 })).toBe(
      "Checking some-agent 1.2.3\nFAIL G1.tool: in a tool\ntrial 50/60\n",
    );
  });

  test("a person gets one line that changes, and it is gone at the end", () => {
    const text = shown({ isTTY: true, columns: 80 });
    expect(text).toContain("1/2  G1.running  while it speaks");
    expect(text).toContain("60/60");
    expect(text.endsWith("\r\u001b[2K")).toBe(true);
  });
});
