/**
 * The guarantees of the contract (spec §3) as predicates over what was seen at the edges of the layer. Nothing here knows
 * how the layer works: it reads the history as a client, an agent and a driver could.
 *
 * Each predicate gives what it found wrong, in words. `at` is a place in the history; "at once" is "in the same step".
 */

import { hasPassed, isUserMessage, NEVER, type OfKind, STEERING, shownBy, tokensOf } from "./chronicle.js";
import { describe, expectedAnswers, expectedEnds, expectedReasons, name, wrongRuns } from "./expectations.js";
import type { Entry } from "./history.js";
import { tell } from "./steer-story.js";
import type { Ask, Story, TurnStory } from "./story.js";
import { GRACE_MS, type Played } from "./world.js";

type Guarantee = (story: Story) => string[];

const faults = (...found: readonly (string | false | undefined)[]): string[] =>
  found.filter((fault): fault is string => typeof fault === "string");

const steerRequests = (story: Story): Ask[] => story.asks.filter(({ method }) => method === STEERING);

const hasEnded = ({ to }: TurnStory): boolean => to < NEVER;

// --- G1: `injected` means delivered in that turn before its owner is answered, or reported undelivered with its content.

const acceptsAtOnce: Guarantee = (story) =>
  steerRequests(story).flatMap((ask) => {
    const [answer] = ask.answers;
    const expected = expectedAnswers(story, ask);
    return faults(
      answer?.step !== ask.sent.step && `${name(ask)} was not answered at once`,
      !expected.includes(describe(answer)) &&
        `${name(ask)} was answered ${describe(answer)}, not ${expected.join(" or ")}`,
    );
  });

const losesNothing: Guarantee = (story) =>
  story.steers
    .filter(({ turn }) => hasEnded(turn))
    .flatMap((steer) => {
      const { token, receipts, listed, isHandedOver, isKept, isHeardOf } = steer;
      const isListable = steer.turn.isOwned && steer.messageId !== undefined;
      return faults(
        isHeardOf && receipts.length !== 1 && `${token} has ${receipts.length} final receipts`,
        isListable && listed > (isHandedOver ? 0 : 1) && `${token} is in the owner's report ${listed} times`,
        isListable && isKept && listed === 0 && `${token} was not handed over, and the owner's report does not say so`,
        ...receipts.flatMap(({ message: { params } }) => {
          const isUndelivered = params.state === "undelivered";
          const reasons = expectedReasons(story, steer);
          return faults(
            isHandedOver && isUndelivered && `${token} was handed over, and told to be undelivered`,
            isKept && !isUndelivered && `${token} was not handed over, and told to be delivered`,
            (isUndelivered || params.assumed) &&
              JSON.stringify(params.prompt) !== JSON.stringify(steer.content) &&
              `${token} came back with other content`,
            isUndelivered &&
              !reasons.includes(params.reason) &&
              `${token} came back for ${params.reason}, not ${reasons}`,
            isListable && isUndelivered !== (listed === 1) && `receipt and owner's report of ${token} differ`,
          );
        }),
      );
    });

// --- G2: a steer is handed over at most once; nothing is handed over after it was told undelivered; `assumed` is honest.

const handsOverOnce: Guarantee = (story) =>
  story.steers.flatMap(({ token, attempts, receipts: [final] }) => {
    const kept = attempts.find(({ status }) => status === "handedOver");
    const { state, assumed = false } = final?.message.params ?? {};
    const isWrong = state === "delivered" && kept?.confirmed !== undefined && kept.confirmed === assumed;
    const again = attempts.flatMap((attempt, index) => {
      const next = attempts[index + 1];
      const knownAt = attempt.status === "failed" ? attempt.failedAt : attempt.verdictAt;
      return faults(
        next && attempt.status === "handedOver" && `${token} was ${attempt.road} and then ${next.road}`,
        next && next.at < knownAt && `${token} was ${next.road} before it had failed to be ${attempt.road}`,
        state === "undelivered" &&
          (final as Entry).at < attempt.at &&
          `${token} was ${attempt.road} after it came back`,
      );
    });
    return [...again, ...faults(isWrong && `${token} was told to be ${assumed ? "assumed" : "delivered"}`)];
  });

const revokesTellTheTruth: Guarantee = (story) =>
  story.steers.flatMap((steer) =>
    steer.revokes.flatMap(({ answers: [answer] }) => {
      const said = describe(answer);
      const isGiven = answer !== undefined && steer.isGivenAt(answer.at);
      return faults(
        said === "a result" && steer.isHandedOver && `${steer.token} was revoked, and handed over`,
        said.endsWith("alreadyDelivered") && !isGiven && `${steer.token} was not delivered, and could not be revoked`,
      );
    }),
  );

const repeatsHaveNoEffect: Guarantee = (story) =>
  steerRequests(story).flatMap((ask) => {
    const turn = story.turnAt(ask.sessionId as string, ask.sent.at);
    const isRepeat = turn !== undefined && describe(ask.answers[0]) === "injected" && story.isRepeat(ask, turn);
    return faults(
      isRepeat && story.placesOf(ask.token as string).length > 0 && `${name(ask)}, a repeat, was handed over`,
    );
  });

const showsOnce: Guarantee = (story) =>
  story.steers.flatMap(({ token, turn, messageId, isHandedOver }) =>
    story.linksThatWant("echo").flatMap((link) => {
      const shown = story
        .of("clientGot")
        .filter((got) => got.link === link && isUserMessage(got) && tokensOf(shownBy(got)).includes(token))
        .filter(({ at, message: { params } }) => {
          const mayBeReplay = params.update.messageId === undefined && story.isLoading(turn.sessionId, at, link);
          return !mayBeReplay && story.isAttached(link, turn.sessionId, at);
        });
      const isThere = [turn.from + 1, turn.to].every((at) => story.isAttached(link, turn.sessionId, at));
      const isDue = hasEnded(turn) && isHandedOver && isThere;
      const isForeign = shown.some(({ message }) => message.params.update.messageId !== messageId);
      return faults(
        (shown.length > 1 || (isDue && shown.length === 0)) && `${token} was shown ${shown.length} times to ${link}`,
        messageId !== undefined && isForeign && `${token} was shown to ${link} with another messageId`,
      );
    }),
  );

// --- G3: steers are handed over in order of arrival, the next after the verdict on the one before, none while held.

const keepsOrder: Guarantee = (story) =>
  story.steers.flatMap((later) =>
    later.attempts.flatMap((attempt) =>
      story
        .steersOf(later.turn)
        .filter((earlier) => earlier.at < later.at && earlier.isPassedBy(later, attempt))
        .map(({ token }) => `${later.token} was ${attempt.road} before ${token}`),
    ),
  );

const slashGoesAlone: Guarantee = (story) =>
  story.steers.flatMap(({ token, content: [first], attempts }) =>
    attempts.flatMap(({ entry }) => {
      const isCommand = entry.kind === "agentGot" && first?.text?.startsWith("/");
      const isAlone = isCommand && entry.message.params._meta.steering.messageIds.length === 1;
      return faults(isCommand && !isAlone && `${token} reads as a command, and did not go alone`);
    }),
  );

const holdsWhileAsked: Guarantee = (story) =>
  story.steers.flatMap(({ token, attempts, turn }) =>
    attempts
      .filter(({ at }) => story.isHeldAt(turn, at))
      .map(({ road }) => `${token} was ${road} while a permission was open`),
  );

const givesWhatIsPending: Guarantee = (story) =>
  story.of("took").flatMap(({ sessionId, at, steers: { length } }) => {
    const turn = story.turnAt(sessionId, at);
    const isCancelled = turn?.cancelled !== undefined && turn.cancelled.at < at;
    const isOpen = turn && !isCancelled && story.runAtPlace(sessionId, at) !== undefined && !story.isHeldAt(turn, at);
    if (!isOpen) return faults(length > 0 && `${length} steers were taken where none may be`);
    const steers = story.steersOf(turn);
    const isBehind = steers.some((steer) => steer.isWithDriverAt(at));
    const isUnsure = steers.some((steer) => steer.isUnsureAt(at));
    const pending = steers.filter((steer) => steer.isPendingAt(at)).length;
    return faults(
      isBehind && !isUnsure && length > 0 && `${length} steers were taken behind one that is with the driver`,
      !isBehind && !isUnsure && length !== pending && `${length} of ${pending} pending steers were given`,
    );
  });

// --- G4: every request has exactly one answer; a prompt's comes after all work bound to it, and says how that ended.

const answersOnce: Guarantee = (story) =>
  story.asks.flatMap((ask) => {
    const isExcused = story.hasClientLeft(ask.link) || story.goneAt(ask.link) < ask.sent.at;
    const { length } = ask.answers;
    return faults(
      length > 1 && `${name(ask)} was answered ${length} times`,
      length === 0 && !isExcused && `${name(ask)} was never answered`,
    );
  });

const answersLast: Guarantee = (story) =>
  story.turns.flatMap((turn) => {
    const { answer, to } = turn;
    if (!answer) return [];
    const expected = expectedEnds(story, turn);
    const isOpen = !expected.includes("cancelled") && turn.runs.some((run) => run.to > to);
    return faults(
      isOpen && "the owner was answered while a run was open",
      !expected.includes(describe(answer)) && `${name(turn.ask)} ended with ${describe(answer)}, not ${expected}`,
      ...wrongRuns(turn),
      ...story
        .steersOf(turn)
        .flatMap(({ token, ask, attempts, receipts, joined }) =>
          faults(
            receipts.some(({ at }) => at > to) && `a receipt of ${token} came after the owner's answer`,
            ask.method === STEERING &&
              receipts.some(({ at }) => at < (ask.answers[0]?.at ?? NEVER)) &&
              `a receipt of ${token} came before its answer`,
            attempts.some(({ at, verdictAt }) => at > to || verdictAt > to) &&
              `the owner was answered before ${token} was`,
            joined &&
              ask.answers.some((own) => describe(own) !== describe(answer) && own.at > to) &&
              `${name(ask)} joined, and was answered ${describe(ask.answers[0])}`,
          ),
        ),
    );
  });

// --- G5: a steer that meets no turn consumes nothing.

const idleConsumesNothing: Guarantee = (story) =>
  steerRequests(story).flatMap((ask) => {
    const [answer] = ask.answers;
    if (["injected", "startedNewTurn"].includes(describe(answer))) return [];
    const effects = story.sameStep(ask.sent).filter((entry) => entry !== answer);
    const reason = answer?.message.result?.reason;
    return faults(
      effects.length > 0 && `${name(ask)} was refused, and caused ${effects.map(({ kind }) => kind)}`,
      story.placesOf(ask.token as string).length > 0 && `${name(ask)} was refused, and handed over`,
      answer?.message.result && reason !== "noRunningTurn" && `${name(ask)} has the reason ${reason}`,
    );
  });

// --- G6: a cancel ends the turn and the queue, reaches the run that is open and no other, and nothing of that run passes.

const cancelEndsTurns: Guarantee = (story) =>
  story.turns.flatMap((turn) => {
    const { cancelled, to, runs, answer } = turn;
    if (!cancelled) return [];
    const steers = story.steersOf(turn);
    const overAt = story.entries.find(({ now }) => now > cancelled.entry.now + GRACE_MS)?.at ?? NEVER;
    const isBetweenRuns =
      runs.every((run) => run.to < cancelled.at) && !steers.some((steer) => steer.awaitsVerdictAt(cancelled.at));
    return faults(
      runs.some(({ from }) => from > cancelled.at) && "a run began after the cancel",
      to > overAt && "the grace was over, and the owner had no answer",
      isBetweenRuns &&
        answer &&
        answer.step !== cancelled.entry.step &&
        "a cancel between runs was not answered at once",
      ...steers.flatMap(({ token, attempts }) =>
        attempts.filter(({ at }) => at > cancelled.at).map(({ road }) => `${token} was ${road} after the cancel`),
      ),
    );
  });

const cancelEmptiesQueue: Guarantee = (story) =>
  story.sent("session/cancel").flatMap(({ message, at, step }) =>
    story.queuedAt(message.params.sessionId, at).flatMap((ask) => {
      const [answer] = ask.answers;
      return faults(
        (answer?.step !== step || describe(answer) !== "cancelled") &&
          `${name(ask)} was queued, and not cancelled at once`,
        story.turns.some((turn) => turn.ask === ask) && `${name(ask)} was cancelled, and ran`,
      );
    }),
  );

const nobodyWaitsForEver: Guarantee = (story) =>
  story.turns
    .filter(({ cancelled, to }) => cancelled && to < NEVER)
    .flatMap((turn) =>
      story.asks
        .filter((ask) => story.queuedAt(turn.sessionId, story.stuckAt(turn, ask)).includes(ask))
        .map((ask) => `${name(ask)} waited too long for a run that was cancelled`),
    );

const withdrawalsAreAnswered: Guarantee = (story) =>
  story.sent("$/cancel_request").flatMap(({ message, at, step, link }) => {
    const ask = story.asks.find((other) => other.link === link && other.message.id === message.params.requestId);
    if (!ask?.sessionId || !story.queuedAt(ask.sessionId, at).includes(ask)) return [];
    const isAnswered = ask.answers[0]?.step === step && describe(ask.answers[0]) === "-32800";
    return faults(!isAnswered && `${name(ask)} was withdrawn, and not answered so at once`);
  });

const fenceHolds: Guarantee = (story) =>
  story.of("agentSent").flatMap((sent) => {
    const { link, at, message } = sent;
    const { method, id, params } = message;
    const sessionId = params?.sessionId;
    if (sessionId === undefined || story.goneAt(link) < at || story.closedBefore(sessionId, at) >= 0) return [];
    const effects = story.sameStep(sent);
    const passed = hasPassed(effects, sent);
    const isWork = method === "session/update" && story.isSign(sent, sessionId) && !isUserMessage(sent);
    if (!story.isFenced(sessionId, at)) return faults(isWork && !passed && "an update did not pass");
    if (isWork) return faults(passed && !story.isLoading(sessionId, at, link) && "an update of a cancelled run passed");
    const reply = effects.find(
      (got): got is OfKind<"agentGot"> => got.kind === "agentGot" && got.message.id === id,
    )?.message;
    const isCancelled = reply?.result?.outcome?.outcome === "cancelled";
    return faults(
      method === "session/request_permission" &&
        !(isCancelled && !passed) &&
        "a cancelled run was not answered cancelled",
      method === "fs/write_text_file" && !(reply?.error?.code === -32800 && !passed) && "a cancelled run could write",
    );
  });

const cancelsOnlyOpenRuns: Guarantee = (story) =>
  story.got("session/cancel").flatMap(({ message, at, step }) => {
    const { sessionId } = message.params;
    const run = story.runAtPlace(sessionId, at);
    const turn = run && story.turnOfRun(run);
    const isForeign = !run && story.isKnown(sessionId, at) && !story.hasWorkedAlone(sessionId, at);
    if (!run || !turn) return faults(isForeign && "a cancel was forwarded while no run was open");
    const isAsked = turn.cancelled !== undefined && turn.cancelled.at < at;
    const isLater = story.of("tick").some((tick) => run.from < tick.at && tick.at < at) && run.began.step !== step;
    return faults(
      !isAsked && story.scenario.emulate !== "interrupt" && "a run was cancelled that no client had cancelled",
      !isLater && "a cancel could overtake its prompt",
    );
  });

const cancelReachesTheRun: Guarantee = (story) =>
  story.turns.flatMap(({ cancelled, runs, sessionId, from }) => {
    const run = runs.find((other) => cancelled && other.from < cancelled.at && cancelled.at < other.to);
    if (!cancelled || !run || story.closedBefore(sessionId, story.entries.length) > from) return [];
    const dueAt = story.entries.find(({ at, now }) => at > cancelled.at && now > cancelled.entry.now)?.at ?? NEVER;
    const isTold = story
      .got("session/cancel")
      .some(({ message, at }) => message.params.sessionId === sessionId && cancelled.at < at && at <= dueAt);
    return faults(run.to > dueAt && dueAt < NEVER && !isTold && "a run that was cancelled was not told");
  });

// --- G7: a steer reaches no other turn and no other session; a session runs one prompt at a time, in order of arrival.

const staysInItsTurn: Guarantee = (story) =>
  story.steers.flatMap(({ token, turn, ask, isToldToOthers }) => {
    const places = story.placesOf(token);
    const sessions = places.map((place) =>
      place.kind === "agentGot" ? place.message.params.sessionId : place.sessionId,
    );
    return faults(
      isToldToOthers && `others were told what became of ${token}`,
      sessions.some((sessionId) => sessionId !== ask.sessionId) && `${token} reached ${sessions}`,
      places.some(({ at }) => at < turn.from || at > turn.to) && `${token} left its turn`,
    );
  });

const runsOneByOne: Guarantee = (story) =>
  story.runs.flatMap((run) => {
    const { sessionId, link, from, isContinuation } = run;
    const turn = isContinuation ? undefined : story.turnOfRun(run);
    const isOrphan = story.of("clientLeft").some((left) => left.link === link && left.at < from);
    const overtaken = turn?.isOwned
      ? story.queuedAt(sessionId, from).filter(({ sent }) => sent.at < turn.ask.sent.at)
      : [];
    return faults(
      story.runAtPlace(sessionId, from) && `a prompt was sent to ${sessionId} while a run was open`,
      isOrphan && "a prompt of a client that had left was run",
      ...overtaken.map((ask) => `${name(ask)} was overtaken`),
    );
  });

// --- G8: whatever happened, the next prompt works; what waits for a close is answered before it.

const nextPromptWorks: Guarantee = (story) =>
  story.asks
    .filter((ask) => story.textOf(ask) === "probe")
    .filter(({ link, sessionId }) => story.goneAt(link) === NEVER && !story.mayBeClosed(sessionId as string))
    .flatMap(({ answers: [answer] }) =>
      faults(describe(answer) !== "end_turn" && `the next prompt was answered ${describe(answer)}`),
    );

const closeAnswersAll: Guarantee = (story) =>
  story.asks.flatMap(({ method, answers: [closed], sessionId }) => {
    if (method !== "session/close" || !closed || closed.message.error) return [];
    return story.asks
      .filter((ask) => ask.method === "session/prompt" && ask.sessionId === sessionId && ask.sent.at < closed.at)
      .filter(({ link, answers: [answer] }) => story.goneAt(link) > closed.at && (answer?.at ?? NEVER) > closed.at)
      .map((ask) => `${name(ask)} had no answer when its session was closed`);
  });

/** The guarantees by their names in the contract. */
const GUARANTEES: Readonly<Record<string, readonly Guarantee[]>> = {
  "G1 no lost steer": [acceptsAtOnce, losesNothing],
  "G2 no duplicate": [handsOverOnce, revokesTellTheTruth, repeatsHaveNoEffect, showsOnce],
  "G3 order": [keepsOrder, slashGoesAlone, holdsWhileAsked, givesWhatIsPending],
  "G4 one answer": [answersOnce, answersLast],
  "G5 idle consumes nothing": [idleConsumesNothing],
  "G6 cancel": [
    cancelEndsTurns,
    cancelEmptiesQueue,
    nobodyWaitsForEver,
    withdrawalsAreAnswered,
    fenceHolds,
    cancelsOnlyOpenRuns,
    cancelReachesTheRun,
  ],
  "G7 isolation": [staysInItsTurn, runsOneByOne],
  "G8 containment": [nextPromptWorks, closeAnswersAll],
};

/** What a history breaks, each with the guarantee it breaks. */
export function violations(played: Played): string[] {
  const story = tell(played);
  return Object.entries(GUARANTEES).flatMap(([guarantee, predicates]) =>
    predicates.flatMap((predicate) => predicate(story)).map((fault) => `${guarantee}: ${fault}`),
  );
}
