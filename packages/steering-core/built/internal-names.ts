/**
 * Names that never leave the core, for the build to shorten. What is on the wire, in the options or in the contract with
 * a driver must not be here: `internal-names.test.ts` looks, and `npm run check` runs the tests on what was built.
 *
 * A line is what can meet in one object, or be compared. Names that never meet can share a short one.
 */

const familiesOf = (lines: string): readonly (readonly string[])[] =>
  lines
    .trim()
    .split("\n")
    .map((line) => line.trim().split(" "));

/** Members of the core's own objects: a session, a turn, a run, a steer, who asked, a connection and its ends, the hub. */
const MEMBER_FAMILIES = familiesOf(`
  phase turn run policy queue closing unattended past effects interrupted links hasCommands echoes injection timers
  link owner joined bound settled refusals refusal runsBegun report holds cancelReason
  link wireId lively
  link weight injectable fate report revokers
  link asker
  left native
  wishes toClient toAgent respond startRun releaseHolds leaveWhenDone
  toClient toAgent endAgent
  fromClient fromAgent clientGone agentGone
  answered running
  session refusal
  end wake room
  interrupts
  traits clock sessions links leaving dispatch open forgetUnused
`);

/** Phases with the timers that have no phase, fates, events, effects: members of the core's tables, and strings. */
const WORD_FAMILIES = familiesOf(`
  resting running settling pausing fenced sendCancel sendCancelRequest
  waiting fallen injecting taken continued settled
  promptArrived steerArrived revokeArrived cancelArrived promptCancelled runAnswered verdictArrived reportArrived takeCalled agentActed holdChanged timerFired closeArrived closeAnswered linkLost agentLost
  respond startRun abortInjection give sendCancel sendCancelRequest releaseHolds say arm disarm forget
`);

export const FAMILIES: readonly (readonly string[])[] = [...MEMBER_FAMILIES, ...WORD_FAMILIES];
const distinct = (families: readonly (readonly string[])[]): readonly string[] => [...new Set(families.flat())];

/** Names that strings have too. */
export const WORDS: readonly string[] = distinct(WORD_FAMILIES);
export const NAMES: readonly string[] = distinct(FAMILIES);
