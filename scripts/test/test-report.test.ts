import { expect, test } from "vitest";
import { closingLine } from "../test-report.mjs";

const passing = { status: "passed", assertionResults: [{}] };

test("the closing line counts tests", () => {
  const report = { numPassedTests: 12, numFailedTests: 1, numPendingTests: 0, testResults: [passing] };
  expect(closingLine(report)).toBe("12 passed, 1 failed");
});

test("a test file that cannot be loaded counts as a failure", () => {
  const unloadable = { status: "failed", assertionResults: [] };
  const report = { numPassedTests: 2, numFailedTests: 0, numPendingTests: 0, testResults: [passing, unloadable] };
  expect(closingLine(report)).toBe("2 passed, 1 failed");
});

test("skipped tests are told", () => {
  const report = { numPassedTests: 2, numFailedTests: 0, numPendingTests: 3, testResults: [passing] };
  expect(closingLine(report)).toBe("2 passed, 0 failed, 3 skipped");
});
