import pc from "picocolors";
import { describe, expect, test } from "vitest";
import { tableOf } from "../src/check/table.js";
import { caseReport, checkReport, requirementReport } from "./report.js";

const PLAIN = { colors: pc.createColors(false), width: 100 };
const failing = (problems: readonly string[]) =>
  requirementReport({ verdict: "fail", cases: [caseReport({ verdict: "fail", problems })] });

describe("the table", () => {
  test("names the agent, its command, its model and what it advertises", () => {
    const table = tableOf(checkReport([requirementReport()], { modelServer: null }), PLAIN);
    expect(table.split("\n").slice(0, 4)).toEqual([
      "some-agent 1.2.3",
      "command   some-agent --acp",
      "model     blind: its own model, unseen",
      "steering  not advertised",
    ]);
  });

  test("has a part for each tier, in order, and none for an empty one", () => {
    const requirements = [
      requirementReport({ id: "figure.answer", tier: "informs", figure: "median 2 ms" }),
      requirementReport({ id: "advertised", tier: "must" }),
    ];
    const table = tableOf(checkReport(requirements), PLAIN);
    expect(table.indexOf("Must:")).toBeLessThan(table.indexOf("Informs:"));
    expect(table).not.toContain("Should:");
  });

  test("PASS with its figure or what holds, n/a with the reason, a figure alone for what informs", () => {
    const table = tableOf(
      checkReport([
        requirementReport({ id: "advertised" }),
        requirementReport({ id: "G1.boundary", figure: "0 of 9 lost" }),
        requirementReport({ id: "close.ends", verdict: "notApplicable", reason: "no session/close" }),
        requirementReport({ id: "figure.answer", tier: "informs", figure: "median 2 ms" }),
      ]),
      PLAIN,
    );
    expect(table).toContain("  PASS  advertised          It holds.\n");
    expect(table).toContain("  PASS  G1.boundary         0 of 9 lost\n");
    expect(table).toContain("  n/a   close.ends          no session/close\n");
    expect(table).toContain("        figure.answer       median 2 ms\n");
  });

  test("FAIL with the first problems, and how many more there are", () => {
    const table = tableOf(checkReport([failing(["one", "two", "three", "four", "five"])]), PLAIN);
    expect(table).toContain("  FAIL  G1.running          It holds.\n        while the model speaks: one\n");
    expect(table).toContain("        … and 2 more\n");
    expect(table).toContain("Not conformant (must: 0 PASS, 1 FAIL, 0 n/a; should: 0 PASS, 0 FAIL, 0 n/a; 61 s)\n");
  });

  test("no line is longer than the terminal, and nothing that an agent says moves its cursor", () => {
    const table = tableOf(checkReport([failing([`\u001b[2J${"long ".repeat(100)}\nsecond line`])]), PLAIN);
    const problem = table.split("\n").find((line) => line.includes("long"));
    expect(problem).toHaveLength(100);
    expect(table).not.toContain("\u001b");
  });

  test("colours only where they are wanted", () => {
    const table = tableOf(checkReport([failing(["one"])]), { ...PLAIN, colors: pc.createColors(true) });
    expect(table).toContain("\u001b[31mFAIL");
  });
});
