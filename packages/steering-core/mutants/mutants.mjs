import { LAYER } from "./layer.mjs";
import { MACHINE } from "./machine.mjs";

/**
 * One fault that could have been written by mistake.
 *
 * @typedef {object} Mutant
 * @property {string} file in `src`
 * @property {string} search what stands there; exactly once
 * @property {string} replace what stands there in the mutant
 * @property {string} breaks what it does, by the guarantee or the section of the contract
 */

/** @type {readonly Mutant[]} */
export const MUTANTS = [...MACHINE, ...LAYER];

/**
 * @param {string} source
 * @param {Mutant} mutant
 * @returns {string} the source with the fault in it
 * @throws {Error} where it does not fit exactly once
 */
export function applyMutant(source, { file, search, replace }) {
  const [before, after, ...more] = source.split(search);
  if (before === undefined || after === undefined || more.length > 0)
    throw new Error(
      `${file} has "${search}" ${after === undefined ? 0 : more.length + 1} times; a mutant needs it once.`,
    );
  return `${before}${replace}${after}`;
}
