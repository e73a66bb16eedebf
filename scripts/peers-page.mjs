/**
 * @typedef {{
 *   id: string, holds: string, tier: string, verdict: string, figure?: string, reason?: string,
 *   cases: { title: string, verdict: string, problems: string[], figure?: string }[],
 * }} RequirementReport
 * @typedef {{
 *   agent: { name?: string, version?: string }, modelServer: string | null, startedAt: string, durationMs: number,
 *   requirements: RequirementReport[],
 * }} CheckReport
 * @typedef {{ peer: { title: string, env: Readonly<Record<string, string>>, modelServer: string }, report: CheckReport }} Result
 */

const TIERS = { must: "What a host relies on", should: "The rest of the contract", informs: "Seen and measured" };
const WORDS = /** @type {Record<string, string>} */ ({ pass: "PASS", fail: "FAIL", notApplicable: "n/a" });

/**
 * The page that says what the check showed of each peer.
 *
 * @param {readonly Result[]} results
 */
export function peersPage(results) {
  return `${[
    "# What the check shows of other agents",
    [
      "Agents that answer `_session/steering` by themselves, run by `acp-steer check` against the scripted model server:",
      "no network, no key. The table states what was seen, in one run on one machine. FAIL means that the sentence of the",
      "requirement did not hold in a case of that run; n/a that there was nothing to judge, for the reason given below.",
      "These agents promise `supported: true` and no more: the tier *should* holds only what they advertise.",
    ].join("\n"),
    "Written by `npm run check:peers`; it installs the peers and a Node.js 24 for them into `vendors/`.",
    versions(results),
    ...Object.keys(TIERS).map((tier) => section(/** @type {keyof typeof TIERS} */ (tier), results)),
    "## What was seen where it says FAIL",
    ...results.map(failures),
    "## Why it says n/a",
    ...results.map(reasons),
  ].join("\n\n")}\n`;
}

/** @param {readonly Result[]} results */
function versions(results) {
  const rows = results.map(({ report: { agent, modelServer, startedAt, durationMs } }) =>
    row([`${agent.name} ${agent.version}`, String(modelServer), startedAt.slice(0, 10), `${seconds(durationMs)} s`]),
  );
  return [row(["peer", "model server", "checked", "took"]), row(["---", "---", "---", "---"]), ...rows].join("\n");
}

/**
 * @param {keyof typeof TIERS} tier
 * @param {readonly Result[]} results
 */
function section(tier, results) {
  const [first] = results;
  const requirements = first?.report.requirements.filter((requirement) => requirement.tier === tier) ?? [];
  const rows = requirements.map(({ id, holds }) =>
    row([`\`${id}\``, holds, ...results.map(({ report }) => cell(find(report, id)))]),
  );
  const head = ["requirement", "what must hold", ...results.map(({ peer }) => peer.title)];
  return [`## ${TIERS[tier]}`, "", row(head), row(head.map(() => "---")), ...rows].join("\n");
}

/** @param {RequirementReport | undefined} requirement */
function cell(requirement) {
  if (!requirement) {
    return "";
  }
  const { verdict, tier, figure } = requirement;
  const word = tier === "informs" && verdict === "pass" ? "" : WORDS[verdict];
  return [word, figure].filter(Boolean).join("; ");
}

/** @param {Result} result */
function failures({ peer, report }) {
  const lines = report.requirements
    .filter(({ verdict }) => verdict === "fail")
    .flatMap(({ id, cases }) =>
      cases
        .filter(({ verdict }) => verdict === "fail")
        .map(({ title, problems }) => `- \`${id}\`, ${title}: ${oneLine(problems.slice(0, 3).join("; "))}`),
    );
  return [`### ${peer.title}`, "", ...(lines.length > 0 ? lines : ["Nothing."])].join("\n");
}

/** @param {Result} result */
function reasons({ peer, report }) {
  const lines = report.requirements
    .filter(({ verdict }) => verdict === "notApplicable")
    .map(({ id, reason }) => `- \`${id}\`: ${oneLine(reason ?? "")}`);
  return [`### ${peer.title}`, "", ...(lines.length > 0 ? lines : ["Everything was judged."])].join("\n");
}

/**
 * @param {CheckReport} report
 * @param {string} id
 */
const find = (report, id) => report.requirements.find((requirement) => requirement.id === id);

/** @param {readonly string[]} cells */
const row = (cells) => `| ${cells.map((text) => oneLine(text).replaceAll("|", "\\|")).join(" | ")} |`;

/** @param {string} text */
const oneLine = (text) => text.replace(/\s+/g, " ").trim();

/** @param {number} ms */
const seconds = (ms) => Math.round(ms / 1_000);
