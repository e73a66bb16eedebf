/** @param {readonly number[]} values */
export const median = (values) => [...values].sort((one, other) => one - other)[Math.floor(values.length / 2)] ?? NaN;

/**
 * One row of a bench's table: what was measured, what it has to hold, and whether it does.
 *
 * @param {string} what
 * @param {number} value
 * @param {string} bound `at most 5` or `at least 5`
 * @param {string} [unit]
 * @param {string} [detail]
 */
export function row(what, value, bound, unit = "", detail = "") {
  const limit = Number(bound.replace(/^at (most|least) /, ""));
  const holds = bound.startsWith("at most") ? value <= limit : value >= limit;
  return { what, value: Number(value.toFixed(3)), bound, unit, holds: holds ? "yes" : "no", detail };
}
