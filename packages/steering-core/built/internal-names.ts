/**
 * Names that never leave the core, for the build to shorten. What is on the wire, in the options or in the contract with
 * a driver must not be here: `internal-names.test.ts` looks, and `npm run check` runs the tests on what was built.
 */

/** Members of the core's own objects. */
export const MEMBERS: readonly string[] = `
  agentGone answer answered asker barred beginRun bound by cancelReason
  channel clientGone clock closing command dispatch echoes effects end
  endAgent ended fate finish forgetUnused fromAgent fromClient given hasCommands
  holds injectable injection interrupted interrupts joined leaveWhenDone leaving left
  link links lively native ok open owner past pending
  phase policy problem queue refusal refusals refuse
  report revokers room run runsBegun session sessions steer stopped
  timer timers toAgent toClient traits turn unattended unsupported
  verdict wake weight wireId wishes
`
  .trim()
  .split(/\s+/);

/** Phases, events, effects and fates: members of the core's tables, and the strings that name them. */
export const WORDS: readonly string[] = `
  promptArrived steerArrived revokeArrived cancelArrived promptCancelled runAnswered verdictArrived
  reportArrived takeCalled agentActed holdChanged timerFired closeArrived closeAnswered
  linkLost agentLost startRun abortInjection give sendCancel sendCancelRequest
  releaseHolds say arm disarm forget respond resting
  running settling pausing fenced waiting fallen injecting
  taken continued settled
`
  .trim()
  .split(/\s+/);
