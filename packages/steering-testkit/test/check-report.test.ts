import { describe, expect, test } from "vitest";
import type { CaseReport } from "../src/check/check-report.js";
import { asInformation, isConformant, requirementReports, trialReports } from "../src/check/make-report.js";
import { transcriptOf } from "../src/check/transcript.js";
import type { ModelRequest } from "../src/model-server/index.js";
import type { WireRecord } from "../src/wire-record.js";

const report = (changes: Partial<CaseReport>): CaseReport => ({
  requirement: "G1.running",
  title: "a case",
  verdict: "pass",
  problems: [],
  durationMs: 1,
  ...changes,
});

describe("what the cases of a requirement come to", () => {
  test.each([
    ["pass", ["pass", "notApplicable"]],
    ["fail", ["pass", "fail", "notApplicable"]],
    ["notApplicable", ["notApplicable", "notApplicable"]],
  ] as const)("%s, of %j", (verdict, verdicts) => {
    const [found] = requirementReports(verdicts.map((verdict) => report({ verdict })));
    expect(found?.verdict).toBe(verdict);
  });

  test("figures and reasons are told once each, in the order of the requirements", () => {
    const reports = requirementReports([
      report({ requirement: "G8.model-fails", figure: "error" }),
      report({ requirement: "advertised", verdict: "notApplicable", reason: "why" }),
      report({ requirement: "advertised", verdict: "notApplicable", reason: "why" }),
    ]);
    expect(reports.map(({ id, figure, reason }) => [id, figure, reason])).toEqual([
      ["advertised", undefined, "why"],
      ["G8.model-fails", "error", undefined],
    ]);
  });

  test("an agent is conformant unless a must fails", () => {
    const isFine = (requirement: CaseReport["requirement"]): boolean =>
      isConformant(requirementReports([report({ requirement, verdict: "fail" })]));
    expect([isFine("G1.running"), isFine("receipt.turn")]).toEqual([false, true]);
  });

  test("what only informs cannot fail", () => {
    const informs = report({ requirement: "figure.answer", verdict: "fail", problems: ["it hangs"], transcript: [] });
    expect(asInformation(informs)).toEqual(
      report({ requirement: "figure.answer", verdict: "notApplicable", reason: "it hangs" }),
    );
    expect(asInformation(report({ verdict: "fail" })).verdict).toBe("fail");
  });

  test("trials that all broke off judge nothing but what was owed", () => {
    const broken = [{ number: 1, problem: "it ended", promptUnanswered: true, steerUnanswered: false }];
    const reports = trialReports({ judged: [], broken, durationMs: 5, transcripts: new Map() });
    const verdicts = Object.fromEntries(reports.map(({ requirement, verdict }) => [requirement, verdict]));
    expect(verdicts).toMatchObject({
      "G1.boundary": "notApplicable",
      "G4.prompt": "fail",
      "G4.steer": "notApplicable",
    });
  });
});

describe("transcripts", () => {
  const line = (at: number, raw: string): WireRecord => ({ order: at, at: 1_000 + at, direction: "in", raw });
  const request = (at: number): ModelRequest =>
    ({
      index: 7,
      at: 1_000 + at,
      messages: [
        { role: "system", text: "be good", images: 0 },
        { role: "user", text: "old", images: 0 },
        { role: "assistant", text: "said", images: 0 },
        { role: "user", text: "new", images: 0 },
      ],
    }) as unknown as ModelRequest;

  test("what the model was asked stands between the lines of the wire, with what is new in it", () => {
    expect(transcriptOf([line(0, "a"), line(5, "b")], [request(3), request(9), request(11)], 1_010)).toEqual([
      { at: 0, direction: "in", raw: "a" },
      { at: 3, direction: "model", raw: '{"request":7,"new":[{"role":"user","text":"new"}]}' },
      { at: 5, direction: "in", raw: "b" },
      { at: 9, direction: "model", raw: '{"request":7,"new":[{"role":"user","text":"new"}]}' },
    ]);
  });

  test("a very long line is cut, and of very many the middle is left out", () => {
    expect(transcriptOf([line(0, "x".repeat(5_000))], [], 0)[0]?.raw).toMatch(/^x{4000} … \(5000 characters\)$/);
    const many = transcriptOf(
      Array.from({ length: 3_000 }, (_, at) => line(at, "a")),
      [],
      0,
    );
    expect(many).toHaveLength(1_001);
    expect(many[500]?.raw).toBe("… 2000 lines left out");
  });
});
