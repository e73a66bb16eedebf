import { describe, expect, test } from "vitest";
import { junitOf } from "../src/check/junit.js";
import { caseReport, checkReport, requirementReport } from "./report.js";

const withCases = (...cases: ReturnType<typeof caseReport>[]) => junitOf(checkReport([requirementReport({ cases })]));

describe("JUnit XML", () => {
  test("a suite for each tier with its counts, a test for each case", () => {
    const cases = [
      caseReport({ figure: "2 of 2" }),
      caseReport({ verdict: "fail", problems: ["lost", "doubled"] }),
      caseReport({ verdict: "notApplicable", reason: "no tool" }),
    ];
    expect(withCases(...cases)).toBe(`<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="some-agent">
  <testsuite name="must" tests="3" failures="1" errors="0" skipped="1" time="3.702" timestamp="2026-01-01T00:00:00.000Z">
    <testcase classname="must.G1.running" name="G1.running: while the model speaks" time="1.234">
      <system-out>2 of 2</system-out>
    </testcase>
    <testcase classname="must.G1.running" name="G1.running: while the model speaks" time="1.234">
      <failure message="lost">lost
doubled</failure>
    </testcase>
    <testcase classname="must.G1.running" name="G1.running: while the model speaks" time="1.234">
      <skipped message="no tool"/>
    </testcase>
  </testsuite>
</testsuites>
`);
  });

  test("whatever an agent says, the file stays well-formed", () => {
    const nasty = `<&>"'\u0000\u001b[2J\ud800 ]]> \uffff\n\ttab`;
    const xml = withCases(caseReport({ verdict: "fail", problems: [nasty] }));
    expect(xml).toContain(`message="&#60;&#38;&#62;&#34;'\ufffd\ufffd[2J\ufffd ]]&#62; \ufffd&#10;&#9;tab"`);
    expect(xml).toMatch(/^[^\p{Cc}\p{Surrogate}]+$/mu);
  });

  test("an agent without a name goes by its command", () => {
    const report = checkReport([requirementReport()], { agent: { command: ["node", "agent.mjs"] } });
    expect(junitOf(report)).toContain('<testsuites name="node agent.mjs">');
  });
});
