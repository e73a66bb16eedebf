/**
 * The part of vitest's JSON report that is read here.
 *
 * @typedef {object} TestReport
 * @property {number} numPassedTests
 * @property {number} numFailedTests
 * @property {number} numPendingTests
 * @property {{ status: string, assertionResults: unknown[] }[]} testResults one per file
 */

/**
 * The last line of `npm test`, for whoever counts tests without knowing the runner.
 * A file that could not be loaded has no tests to count: it counts as one failure.
 *
 * @param {TestReport} report
 * @returns {string} for example `12 passed, 0 failed`
 */
export function closingLine(report) {
  const unloadable = report.testResults.filter(
    (file) => file.status === "failed" && file.assertionResults.length === 0,
  );
  const line = `${report.numPassedTests} passed, ${report.numFailedTests + unloadable.length} failed`;
  return report.numPendingTests > 0 ? `${line}, ${report.numPendingTests} skipped` : line;
}
