/**
 * The guarantees of the contract (spec §3) as predicates over what was seen at the edges of the layer. Nothing here knows
 * how the layer works: it reads the history as a client, an agent and a driver could.
 *
 * Each predicate returns what it found wrong, in words. `at` is a place in the history; "at once" is "in the same step".
 */
import type { Entry } from "./history.js";
import { type Answer, type Ask, type Attempt, type SteerStory, Story, type TurnStory, tokensOf } from "./story.js";
import { GRACE_MS, type Played } from "./world.js";

type Guarantee = (story: Story) => string[];

const STEERING = "_session/steering";
const UNDELIVERED = "undelivered";

// --- G1: `injected` means delivered in that turn before its owner is answered, or reported `undelivered` with its content.

const acceptsAtOnce: Guarantee = (story) =>
  story.asks
    .filter(({ method }) => method === STEERING)
    .flatMap((ask) => {
      const { at, step } = ask.sent;
      const sessionId = ask.sessionId as string;
      const [answer] = ask.answers;
      if (answer?.step !== step) return [`${name(ask)} was not answered at once`];
      const expected = expectedAnswers(story, ask, sessionId, at);
      const got = describe(answer);
      return expected.includes(got) ? [] : [`${name(ask)} was answered ${got}, not ${expected.join(" or ")}`];
    });

/** What a steer may be answered, by where it arrives (spec §2, §5, §6). */
function expectedAnswers(story: Story, ask: Ask, sessionId: string, at: number): string[] {
  const { params } = ask.message;
  const meta = params._meta?.steering ?? {};
  const turn = story.turnAt(sessionId, at);
  const isOpen = turn !== undefined && !(turn.cancelled && turn.cancelled.at < at);
  if (!story.isAttached(ask.link, sessionId, at) || story.isClosing(sessionId, at)) return ["-32002"];
  if (isOpen && story.isRepeat(ask, turn)) return ["injected", "startedNewTurn"];
  if (isOpen && (meta.expectedTurnId === undefined || meta.expectedTurnId === turnIdOf(story, turn)))
    return acceptedOrTooMany(story, turn, at);
  const behavior = meta.idleBehavior ?? story.scenario.idleBehavior;
  if (isOpen && turnIdOf(story, turn) === undefined) return ["injected", "turnMismatch", "-32600 noRunningTurn"];
  if (behavior === "reject") return ["-32600 noRunningTurn"];
  if (isOpen) return ["turnMismatch"];
  if (turn || story.isFenced(sessionId, at)) return ["cancelling"];
  const starts = behavior === "startNewTurn" && story.wants(ask.link, "receipts") && meta.expectedTurnId === undefined;
  if (!starts) return ["idle"];
  return story.queuedAt(sessionId, at).length > 0 ? ["idle", "startedNewTurn"] : ["startedNewTurn"];
}

/** Of a steer whose driver handed it back too late, both can be said: that it is pending again, and that it is not. */
function acceptedOrTooMany(story: Story, turn: TurnStory, at: number): string[] {
  const { maxSteers } = story.scenario;
  const pending = pendingAt(story, turn, at).length;
  const perhaps = story.steers.filter(
    (steer) => steer.turn === turn && steer.attempts.some((attempt) => attempt.at < at && attempt.status === "either"),
  );
  if (pending >= maxSteers) return ["-32600 tooManyPending"];
  return pending + perhaps.length >= maxSteers ? ["injected", "-32600 tooManyPending"] : ["injected"];
}

const losesNothing: Guarantee = (story) =>
  story.steers
    .filter(({ turn }) => turn.to < Number.POSITIVE_INFINITY)
    .flatMap((steer) => {
      const faults: string[] = [];
      const handed = steer.attempts.some(({ status }) => status === "handedOver");
      const perhaps = steer.attempts.some(({ status }) => status === "either");
      const receipts = finalReceipts(story, steer);
      const listed = reportOf(steer.turn)?.undelivered.filter((other) => other.messageId === steer.messageId) ?? [];
      const hears = hearsReceipts(story, steer);
      if (hears && receipts.length !== 1) faults.push(`${steer.token} has ${receipts.length} final receipts`);
      for (const { message } of receipts) {
        const { state, prompt, reason, assumed } = message.params;
        if (handed && state !== "delivered") faults.push(`${steer.token} was handed over, and told to be ${state}`);
        if (!handed && !perhaps && state !== UNDELIVERED)
          faults.push(`${steer.token} was never handed over, and told to be ${state}`);
        if ((state === UNDELIVERED || assumed) && !sameContent(prompt, steer))
          faults.push(`${steer.token} came back with other content`);
        if (state === UNDELIVERED && !expectedReasons(story, steer).includes(reason))
          faults.push(`${steer.token} is undelivered for ${reason}, not ${expectedReasons(story, steer)}`);
      }
      if (steer.turn.isOwned && steer.messageId !== undefined) {
        if (listed.length > 1 || (handed && listed.length > 0))
          faults.push(`${steer.token} is in the owner's report ${listed.length} times`);
        if (!handed && !perhaps && listed.length === 0)
          faults.push(`${steer.token} was not handed over, and the owner's report does not say so`);
        if (hears && receipts.some(({ message }) => (message.params.state === UNDELIVERED) !== (listed.length === 1)))
          faults.push(`receipt and report of ${steer.token} differ`);
      }
      return faults;
    });

// --- G2: a steer is handed over at most once; what was not delivered was never handed over for good; `assumed` is honest.

const handsOverOnce: Guarantee = (story) =>
  story.steers.flatMap((steer) => {
    const faults: string[] = [];
    const [final] = finalReceipts(story, steer);
    for (const [index, attempt] of steer.attempts.entries()) {
      const next = steer.attempts[index + 1];
      if (next && attempt.status === "handedOver")
        faults.push(`${steer.token} was ${attempt.road} and then ${next.road}`);
      if (next && next.at < Math.max(attempt.verdictAt, attempt.status === "failed" ? attempt.failedAt : 0))
        faults.push(`${steer.token} was ${next.road} before the verdict was in`);
      if (final && final.message.params.state === UNDELIVERED && final.at < attempt.at)
        faults.push(`${steer.token} was ${attempt.road} after it was told to be undelivered`);
    }
    const kept = steer.attempts.find(({ status }) => status === "handedOver");
    const { state, assumed } = final?.message.params ?? {};
    if (state === "delivered" && kept?.confirmed !== undefined && kept.confirmed === (assumed === true))
      faults.push(
        `${steer.token} was ${kept.confirmed ? "" : "not "}confirmed, and told to be ${assumed ? "assumed" : "delivered"}`,
      );
    return faults;
  });

const repeatsHaveNoEffect: Guarantee = (story) =>
  story.asks
    .filter(({ method, token }) => method === STEERING && token !== undefined)
    .flatMap((ask) => {
      const { outcome } = ask.answers[0]?.message.result ?? {};
      const turn = story.turnAt(ask.sessionId as string, ask.sent.at);
      const isRepeat = turn !== undefined && story.isRepeat(ask, turn) && outcome === "injected";
      return isRepeat && placesOf(story, ask.token as string).length > 0
        ? [`${name(ask)} was a repeat, and handed over`]
        : [];
    });

const showsOnce: Guarantee = (story) =>
  story.steers.flatMap((steer) =>
    story.scenario.actors.flatMap((_, link) => {
      const { turn, token, messageId } = steer;
      const shown = story
        .of("clientGot")
        .filter(
          (got) =>
            got.link === link && isUserMessage(got) && tokensOf(got.message.params.update.content).includes(token),
        );
      if (!story.wants(link, "echo")) return [];
      const delivered =
        turn.to < Number.POSITIVE_INFINITY && steer.attempts.some(({ status }) => status === "handedOver");
      const attached =
        story.isAttached(link, turn.sessionId, turn.from + 1) &&
        story.isAttached(link, turn.sessionId, Math.min(turn.to, story.entries.length));
      const faults =
        shown.length > 1 || (delivered && attached && shown.length === 0)
          ? [`${token} was shown ${shown.length} times to ${link}`]
          : [];
      if (messageId !== undefined && shown.some(({ message }) => message.params.update.messageId !== messageId))
        faults.push(`${token} was shown with another messageId`);
      return faults;
    }),
  );

// --- G3: steers are handed over in order of arrival, the next only after the verdict on the one before; held while asked.

const keepsOrder: Guarantee = (story) =>
  story.steers.flatMap((later) =>
    later.attempts.flatMap((attempt) => {
      const passed = story.steers.filter(
        (earlier) => earlier.turn === later.turn && earlier.at < later.at && isPassedBy(story, earlier, attempt, later),
      );
      return passed.map(({ token }) => `${later.token} was ${attempt.road} before ${token}`);
    }),
  );

const holdsWhileAsked: Guarantee = (story) =>
  story.steers.flatMap(({ token, attempts, turn }) =>
    attempts
      .filter(({ at }) => isHeldAt(story, turn, at))
      .map(({ road }) => `${token} was ${road} while a permission was open`),
  );

const givesWhatIsPending: Guarantee = (story) =>
  story.of("took").flatMap(({ sessionId, at, steers }) => {
    const turn = story.turnAt(sessionId, at);
    const isBlocked =
      !turn ||
      !story.runAtPlace(sessionId, at) ||
      (turn.cancelled && turn.cancelled.at < at) ||
      isHeldAt(story, turn, at);
    const pending = turn ? pendingAt(story, turn, at) : [];
    if (steers.length > 0 && isBlocked) return [`${steers.length} steers were taken where none may be`];
    const isAtDriver = turn && story.steers.some((steer) => steer.turn === turn && isWithDriver(story, steer, at));
    const isUnsure =
      turn &&
      story.steers.some(
        (steer) =>
          steer.turn === turn && steer.attempts.some((attempt) => attempt.at < at && attempt.status === "either"),
      );
    if (steers.length === 0 && pending.length > 0 && !isBlocked && !isAtDriver && !isUnsure)
      return [`${pending.map(({ token }) => token)} were pending, and not given`];
    return [];
  });

// --- G4: every request has exactly one answer, a prompt's after all work bound to it.

const answersOnce: Guarantee = (story) =>
  story.asks.flatMap((ask) => {
    const isGone = story.goneAt(ask.link) < Number.POSITIVE_INFINITY;
    const hasLeft =
      story.of("clientLeft").some(({ link }) => link === ask.link) || story.goneAt(ask.link) < ask.sent.at;
    if (ask.answers.length > 1) return [`${name(ask)} was answered ${ask.answers.length} times`];
    if (ask.answers.length === 0 && !(isGone && hasLeft)) return [`${name(ask)} was never answered`];
    return [];
  });

const answersLast: Guarantee = (story) =>
  story.turns
    .filter(({ answer }) => answer !== undefined)
    .flatMap((turn) => {
      const faults: string[] = [];
      const answer = turn.answer as Answer;
      const isCut =
        turn.cancelled !== undefined ||
        story.isClosing(turn.sessionId, turn.to) ||
        story.closedBefore(turn.sessionId, turn.to + 2) > turn.from;
      if (!isCut && turn.runs.some(({ to }) => to > turn.to))
        faults.push("the owner was answered while a run was open");
      for (const steer of story.steers.filter((other) => other.turn === turn)) {
        const receipts = finalReceipts(story, steer);
        if (receipts.some(({ at }) => at > turn.to))
          faults.push(`a receipt of ${steer.token} came after the owner's answer`);
        if (steer.ask.method === STEERING && receipts.some(({ at }) => at < (steer.ask.answers[0]?.at ?? 0)))
          faults.push(`a receipt of ${steer.token} came before its answer`);
        if (steer.attempts.some(({ at }) => at > turn.to))
          faults.push(`${steer.token} was handed over after the owner's answer`);
        if (steer.attempts.some(({ verdictAt }) => verdictAt > turn.to))
          faults.push(`the owner was answered before the verdict on ${steer.token}`);
        if (steer.ask.method === "session/prompt" && !story.textOf(steer.ask).startsWith("/"))
          for (const own of steer.ask.answers)
            if (describe(own) !== describe(answer))
              faults.push(`${name(steer.ask)} joined, and was answered ${describe(own)}, not ${describe(answer)}`);
      }
      const expected = expectedEnd(story, turn);
      if (!expected.includes(describe(answer)))
        faults.push(`${name(turn.ask)} ended with ${describe(answer)}, not ${expected}`);
      return faults;
    });

/** Spec §4, first table. */
function expectedEnd(story: Story, turn: TurnStory): string[] {
  const { cancelled, runs, link } = turn;
  if (cancelled || isCutByClose(story, turn)) return ["cancelled"];
  const last = runs.findLast(({ notTaken }) => !notTaken);
  const end = last?.error ? String(last.error.code) : last?.result?.stopReason;
  return story.agentGoneAt(link) ? [end, "-32603"] : [end];
}

// --- G5: a steer that meets no turn consumes nothing.

const idleConsumesNothing: Guarantee = (story) =>
  story.asks
    .filter((ask) => ask.method === STEERING)
    .flatMap((ask) => {
      const result = ask.answers[0]?.message.result;
      if (result?.outcome === "injected" || result?.outcome === "startedNewTurn") return [];
      const effects = story.sameStep(ask.sent).filter((entry) => entry !== ask.answers[0] && entry.kind !== "tick");
      const faults = effects.map(({ kind }) => `${name(ask)} was refused, and caused ${kind}`);
      if (ask.token && placesOf(story, ask.token).length > 0) faults.push(`${name(ask)} was refused, and handed over`);
      if (result && result.reason !== "noRunningTurn") faults.push(`${name(ask)} has the reason ${result.reason}`);
      return faults;
    });

// --- G6: cancel.

const cancelEndsTurns: Guarantee = (story) =>
  story.turns.flatMap((turn) => {
    const { cancelled, to, runs } = turn;
    if (!cancelled) return [];
    const faults: string[] = [];
    for (const steer of story.steers.filter((other) => other.turn === turn))
      for (const { at, road } of steer.attempts)
        if (at > cancelled.at) faults.push(`${steer.token} was ${road} after the cancel`);
    if (runs.some(({ from }) => from > cancelled.at)) faults.push("a run began after the cancel");
    const late = story.entries.find(({ at, now }) => at > cancelled.at && now > cancelled.entry.now + GRACE_MS);
    if (late && to > late.at) faults.push("the grace was over, and the owner had no answer");
    const isBetweenRuns = runs.every((run) => run.to < cancelled.at);
    const isAtDriver = story.steers.some((steer) => steer.turn === turn && isWithDriver(story, steer, cancelled.at));
    if (isBetweenRuns && !isAtDriver && turn.answer && turn.answer.step !== cancelled.entry.step)
      faults.push("a cancel between two runs was not answered at once");
    return faults;
  });

const cancelEmptiesQueue: Guarantee = (story) =>
  story
    .of("clientSent")
    .filter(({ message }) => message.method === "session/cancel")
    .flatMap((cancel) => {
      const waiting = story.queuedAt(cancel.message.params.sessionId, cancel.at);
      return waiting.flatMap((ask) => {
        const [answer] = ask.answers;
        const faults =
          answer?.step === cancel.step && describe(answer) === "cancelled"
            ? []
            : [`${name(ask)} was queued, and not cancelled at once`];
        return story.turns.some((turn) => turn.ask === ask)
          ? [...faults, `${name(ask)} was cancelled, and ran`]
          : faults;
      });
    });

const withdrawnPromptsDoNotRun: Guarantee = (story) =>
  story
    .of("clientSent")
    .filter(({ message }) => message.method === "$/cancel_request")
    .flatMap(({ at, step, link, message }) => {
      const ask = story.asks.find(
        (other) => other.link === link && other.message.id === message.params.requestId && other.sent.at < at,
      );
      if (!ask?.sessionId || !story.queuedAt(ask.sessionId, at).includes(ask)) return [];
      const [answer] = ask.answers;
      return answer?.step === step && describe(answer) === "-32800"
        ? []
        : [`${name(ask)} was withdrawn, and not answered so at once`];
    });

const fenceHolds: Guarantee = (story) =>
  story.of("agentSent").flatMap((sent) => {
    const { message, link, at } = sent;
    const sessionId = message.params?.sessionId;
    if (sessionId === undefined || story.goneAt(link) < at || story.closedBefore(sessionId, at) >= 0) return [];
    const passed = story
      .sameStep(sent)
      .some(
        (got) =>
          got.kind === "clientGot" &&
          got.link === link &&
          got.message.method === message.method &&
          tokenless(got) === tokenless(sent),
      );
    const isFenced = story.isFenced(sessionId, at);
    if (
      message.method === "session/update" &&
      story.isSign(sent, sessionId) &&
      !story.isLoading(sessionId, at, link) &&
      !isUserMessage(sent)
    ) {
      if (isFenced && passed) return ["an update of a cancelled run passed"];
      if (!isFenced && !passed) return ["an update did not pass"];
    }
    if (message.method === "session/request_permission" && isFenced) {
      const answered = story
        .sameStep(sent)
        .some(
          (got) =>
            got.kind === "agentGot" &&
            got.message.id === message.id &&
            got.message.result?.outcome?.outcome === "cancelled",
        );
      return passed || !answered ? ["a permission of a cancelled run was not answered as cancelled"] : [];
    }
    if (message.method === "fs/write_text_file" && isFenced) {
      const refused = story
        .sameStep(sent)
        .some((got) => got.kind === "agentGot" && got.message.id === message.id && got.message.error?.code === -32800);
      return passed || !refused ? ["a cancelled run could write"] : [];
    }
    return [];
  });

const cancelReachesTheRun: Guarantee = (story) => {
  const faults: string[] = [];
  for (const got of story.of("agentGot").filter(({ message }) => message.method === "session/cancel")) {
    const sessionId = got.message.params.sessionId;
    const run = story.runAtPlace(sessionId, got.at);
    const turn = run && story.turnOfRun(run);
    const asked = turn?.cancelled !== undefined && turn.cancelled.at < got.at;
    if (run && turn) {
      if (!asked && story.scenario.emulate !== "interrupt")
        faults.push("a run was cancelled that nobody had cancelled");
      const isLater = story.of("tick").some(({ at }) => run.from < at && at < got.at);
      if (!isLater || run.began.step === got.step) faults.push("a cancel could overtake its prompt");
    } else if (story.isKnown(sessionId, got.at) && !workedAlone(story, sessionId, got.at))
      faults.push("a cancel was forwarded while no run was open");
  }
  for (const turn of story.turns) {
    const { cancelled } = turn;
    const run = turn.runs.find(({ from, to }) => cancelled !== undefined && from < cancelled.at && cancelled.at < to);
    if (!cancelled || !run || story.closedBefore(turn.sessionId, story.entries.length) > turn.from) continue;
    const later = story.entries.find(({ at, now }) => at > cancelled.at && now > cancelled.entry.now);
    const told = story
      .of("agentGot")
      .some(
        ({ message, at }) =>
          message.method === "session/cancel" &&
          message.params.sessionId === turn.sessionId &&
          at > cancelled.at &&
          at <= (later?.at ?? 0),
      );
    if (later && run.to > later.at && !told) faults.push("a run that was cancelled was not told");
  }
  return faults;
};

// --- G7: a steer reaches no other turn and no other session; a session runs one prompt at a time, in order of arrival.

const staysInItsTurn: Guarantee = (story) =>
  story.steers.flatMap(({ token, turn, ask }) =>
    placesOf(story, token).flatMap((entry) => {
      const sessionId = sessionOf(entry);
      const isInside = turn.from < entry.at && entry.at < turn.to;
      return sessionId === ask.sessionId && isInside
        ? []
        : [`${token} reached ${sessionId} ${isInside ? "" : "outside its turn"}`];
    }),
  );

const runsOneByOne: Guarantee = (story) =>
  story.runs.flatMap((run) => {
    const faults: string[] = [];
    const open = story.runAtPlace(run.sessionId, run.from);
    if (open) faults.push(`a prompt was sent to ${run.sessionId} while a run was open`);
    if (story.of("clientLeft").some(({ link, at }) => link === run.link && at < run.from))
      faults.push("a prompt of a client that had left was run");
    const turn = story.turnOfRun(run);
    if (!turn?.isOwned || run.isContinuation) return faults;
    const overtaken = story
      .queuedAt(run.sessionId, run.from)
      .filter((ask) => ask !== turn.ask && ask.sent.at < turn.ask.sent.at);
    return [...faults, ...overtaken.map((ask) => `${name(turn.ask)} overtook ${name(ask)}`)];
  });

// --- G8: whatever happened, the next prompt works; what waits for a close is answered with it at the latest.

const nextPromptWorks: Guarantee = (story) =>
  story.asks
    .filter((ask) => story.textOf(ask) === "probe")
    .flatMap((ask) => {
      const answer = ask.answers[0];
      const isExcused = story.goneAt(ask.link) < Number.POSITIVE_INFINITY || story.mayBeClosed(ask.sessionId as string);
      if (isExcused || (answer && describe(answer) === "end_turn")) return [];
      return [`the next prompt was answered ${answer ? describe(answer) : "never"}`];
    });

const closeAnswersAll: Guarantee = (story) =>
  story.knownCloses
    .filter(({ answers }) => answers[0]?.message.result)
    .flatMap((close) => {
      const closed = close.answers[0] as Answer;
      return story.asks
        .filter(
          (ask) => ask.method === "session/prompt" && ask.sessionId === close.sessionId && ask.sent.at < closed.at,
        )
        .filter((ask) => story.goneAt(ask.link) > closed.at && !(ask.answers[0] && ask.answers[0].at < closed.at))
        .map((ask) => `${name(ask)} had no answer when its session was closed`);
    });

export const GUARANTEES: Readonly<Record<string, readonly Guarantee[]>> = {
  "G1 no lost steer": [acceptsAtOnce, losesNothing],
  "G2 no duplicate": [handsOverOnce, repeatsHaveNoEffect, showsOnce],
  "G3 order": [keepsOrder, holdsWhileAsked, givesWhatIsPending],
  "G4 one answer": [answersOnce, answersLast],
  "G5 idle consumes nothing": [idleConsumesNothing],
  "G6 cancel": [cancelEndsTurns, cancelEmptiesQueue, withdrawnPromptsDoNotRun, fenceHolds, cancelReachesTheRun],
  "G7 isolation": [staysInItsTurn, runsOneByOne],
  "G8 containment": [nextPromptWorks, closeAnswersAll],
};

/** What a history breaks, with the guarantee it breaks. */
export function violations(played: Played): string[] {
  const story = new Story(played);
  return Object.entries(GUARANTEES).flatMap(([guarantee, predicates]) =>
    predicates.flatMap((predicate) => predicate(story)).map((fault) => `${guarantee}: ${fault}`),
  );
}

// --- Words ------------------------------------------------------------------------------------------------------------

const name = ({ method, message, token, link }: Ask): string => `${method} ${token ?? message.id} of ${link}`;

function describe({ message: { result, error } }: Answer): string {
  if (error) return [error.code, error.data?.reason].filter(Boolean).join(" ");
  return result?.stopReason ?? result?._meta?.steering?.detail ?? result?.outcome ?? "a result";
}

const reportOf = ({ answer }: TurnStory): { undelivered: { messageId: string }[] } | undefined =>
  answer?.message.result?._meta?.steering ?? answer?.message.error?.data?.steering;

/** As a client can know it; unknown where nothing told. */
function turnIdOf(story: Story, turn: TurnStory): string | undefined {
  const told = story
    .of("clientGot")
    .find(({ message: { params }, step }) => params?.state === "turnStarted" && step === turn.runs[0]?.began.step);
  return told?.message.params.turnId;
}

const finalReceipts = (story: Story, { messageId, ask }: SteerStory): Answer[] =>
  story
    .of("clientGot")
    .filter(
      ({ link, message: { params } }) =>
        link === ask.link &&
        messageId !== undefined &&
        params?.messageId === messageId &&
        ["delivered", UNDELIVERED].includes(params.state),
    );

/** The sender asked for receipts, may steer, and was there to the end of the turn. */
const hearsReceipts = (story: Story, { ask, turn, messageId, at }: SteerStory): boolean =>
  messageId !== undefined &&
  story.wants(ask.link, "receipts") &&
  story.isAttached(ask.link, turn.sessionId, at) &&
  story.goneAt(ask.link) > turn.to &&
  story.closedBefore(turn.sessionId, turn.to) < turn.from;

const sameContent = (prompt: unknown, { ask, token }: SteerStory): boolean => {
  const sent = ask.message.params.prompt;
  const expected = ask.method !== STEERING && story_isCommand(ask) ? [{ type: "text", text: token }] : sent;
  return JSON.stringify(prompt) === JSON.stringify(expected);
};

const story_isCommand = (ask: Ask): boolean => ask.message.params.prompt[0].text.startsWith("/");

/** Why a steer may have come back (spec §2, §4). */
function expectedReasons(story: Story, { turn, revoked }: SteerStory): string[] {
  if (revoked) return ["revoked", ...(turn.cancelled ? [turn.cancelled.reason] : [])];
  if (turn.cancelled) return [turn.cancelled.reason, "closed"];
  if (isCutByClose(story, turn)) return ["closed"];
  const [end] = expectedEnd(story, turn);
  return end === "refusal" ? ["refused"] : ["agentFailed"];
}

/** Still to be handed over when that attempt at a later one was made. */
function isPassedBy(story: Story, steer: SteerStory, { at, entry }: Attempt, later: SteerStory): boolean {
  if (
    finalReceipts(story, steer).some((receipt) => receipt.at < at || receipt.step === entry.step) ||
    isRevokedAt(story, steer, at)
  )
    return false;
  const together = steer.attempts.find((other) => other.entry === entry);
  if (together) return positionIn(entry, steer.token) > positionIn(entry, later.token);
  const latest = steer.attempts.findLast((other) => other.at < at);
  return !latest || latest.verdictAt > at || latest.failedAt < at;
}

const positionIn = (entry: Entry, token: string): number => tokensOf(entry).indexOf(token);

const pendingAt = (story: Story, turn: TurnStory, at: number): SteerStory[] =>
  story.steers.filter((steer) => {
    if (steer.turn !== turn || steer.at >= at || finalReceipts(story, steer).some((receipt) => receipt.at < at))
      return false;
    return (
      !steer.attempts.some((attempt) => attempt.at < at && attempt.failedAt > at) && !isRevokedAt(story, steer, at)
    );
  });

const isRevokedAt = (story: Story, { messageId }: SteerStory, at: number): boolean =>
  story.asks.some(
    ({ method, message, answers: [answer] }) =>
      method === "_session/steering/revoke" &&
      message.params.messageId === messageId &&
      answer?.message.result &&
      answer.at < at,
  );

/** At the driver without a verdict, or accepted without a report. */
const isWithDriver = (story: Story, steer: SteerStory, at: number): boolean =>
  steer.attempts.some(
    (attempt) =>
      attempt.road === "injected" &&
      attempt.at < at &&
      (attempt.verdictAt > at || (attempt.failedAt > at && !reportedBefore(story, steer, at))),
  );

const reportedBefore = (story: Story, steer: SteerStory, at: number): boolean =>
  story.entries.some(
    (entry) =>
      (entry.kind === "reported" || (entry.kind === "verdict" && entry.verdict === "delivered")) &&
      entry.messageId === steer.messageId &&
      entry.at < at,
  );

function isHeldAt(story: Story, turn: TurnStory, at: number): boolean {
  return story.of("agentSent").some((asked) => {
    const { message, link } = asked;
    if (
      message.method !== "session/request_permission" ||
      message.params.sessionId !== turn.sessionId ||
      asked.at >= at
    )
      return false;
    const run = turn.runs.find(({ from, to }) => from < asked.at && asked.at < to);
    if (!run || run.to < at || (turn.cancelled && turn.cancelled.at < at)) return false;
    const isOver = story.entries.some(
      (entry) =>
        entry.at > asked.at &&
        entry.at < at &&
        "link" in entry &&
        entry.link === link &&
        ((entry.kind === "clientSent" && entry.message.id === message.id && !entry.message.method) ||
          (entry.kind === "agentSent" &&
            entry.message.method === "$/cancel_request" &&
            entry.message.params.requestId === message.id)),
    );
    return !isOver;
  });
}

/** Where words turned up on the agent's side: prompts of continuations, what was taken, what the driver was given. */
const placesOf = (story: Story, token: string): Entry[] =>
  story.entries.filter((entry) => {
    if (entry.kind === "took") return tokensOf(entry.steers).includes(token);
    if (entry.kind === "injected") return tokensOf(entry.text).includes(token);
    return (
      entry.kind === "agentGot" &&
      entry.message.method === "session/prompt" &&
      tokensOf(entry.message.params.prompt).includes(token)
    );
  });

const sessionOf = (entry: Entry): string | undefined =>
  entry.kind === "took" || entry.kind === "injected"
    ? entry.sessionId
    : entry.kind === "agentGot"
      ? entry.message.params.sessionId
      : undefined;

const isUserMessage = (entry: Entry): boolean =>
  (entry.kind === "clientGot" || entry.kind === "agentSent") &&
  entry.message.params?.update?.sessionUpdate === "user_message_chunk";

const tokenless = (entry: Entry): string => ("message" in entry ? JSON.stringify(entry.message.params) : "");

/** It ended while its session was being closed, or with the close. */
const isCutByClose = (story: Story, { sessionId, to, answer }: TurnStory): boolean =>
  story.isClosing(sessionId, to) ||
  story.knownCloses.some(
    (close) =>
      close.sessionId === sessionId && close.answers[0]?.step === answer?.step && !close.answers[0]?.message.error,
  );

/** The agent worked in the session on its own since its last turn ended. */
function workedAlone(story: Story, sessionId: string, at: number): boolean {
  const ended = Math.max(
    -1,
    ...story.turns.filter((turn) => turn.sessionId === sessionId && turn.to < at).map(({ to }) => to),
  );
  return story.entries.some((entry) => entry.at > ended && entry.at < at && story.isSign(entry, sessionId));
}
