import type { CheckReport, RequirementReport, Verdict } from "@acp-steering/testkit";
import type { Style } from "../style.js";

type Tier = RequirementReport["tier"];

const TIERS: readonly (readonly [Tier, string])[] = [
  ["must", "Must: without it no host can rely on the steering"],
  ["should", "Should: the rest of the contract, where the agent advertises it"],
  ["informs", "Informs: nothing to pass or fail"],
];
const WORDS: Readonly<Record<Verdict, string>> = { pass: "PASS", fail: "FAIL", notApplicable: "n/a" };
const ID_WIDTH = 20;
const INDENT = " ".repeat(8);
const SHOWN_PROBLEMS = 3;

/** The report as a person reads it: by tier, each requirement with its verdict and what was measured. */
export function tableOf(report: CheckReport, style: Style): string {
  const tiers = TIERS.flatMap(([tier, title]) => tierLines(report, tier, title, style));
  return [...headLines(report, style), ...tiers, "", ...summaryLines(report, style)]
    .map((line) => `${line}\n`)
    .join("");
}

function headLines({ agent, modelServer }: CheckReport, { colors }: Style): readonly string[] {
  const name = [agent.name, agent.version].filter(Boolean).join(" ");
  const model = modelServer === null ? "blind: its own model, unseen" : `scripted model server (${modelServer})`;
  return [
    colors.bold(name === "" ? "An agent without a name" : name),
    colors.dim(`command   ${agent.command.join(" ")}`),
    colors.dim(`model     ${model}`),
    colors.dim(
      `steering  ${agent.advertisement === undefined ? "not advertised" : JSON.stringify(agent.advertisement)}`,
    ),
  ];
}

function tierLines({ requirements }: CheckReport, tier: Tier, title: string, style: Style): readonly string[] {
  const own = requirements.filter((requirement) => requirement.tier === tier);
  if (own.length === 0) return [];
  return ["", style.colors.bold(title), "", ...own.flatMap((requirement) => requirementLines(requirement, style))];
}

function requirementLines(requirement: RequirementReport, style: Style): readonly string[] {
  const { id, tier, verdict, holds, figure, reason } = requirement;
  const { colors } = style;
  const said = tier === "informs" && verdict === "pass" ? "    " : coloured(WORDS[verdict].padEnd(4), verdict, style);
  const about = verdict === "notApplicable" ? reason : (figure ?? holds);
  const text = shorten(plain(about ?? ""), style.width - 8 - ID_WIDTH);
  const first = `  ${said}  ${id.padEnd(ID_WIDTH)}${verdict === "pass" && figure !== undefined ? text : colors.dim(text)}`;
  return verdict === "fail" ? [first, ...problemLines(requirement, style)] : [first];
}

function problemLines({ cases }: RequirementReport, { colors, width }: Style): readonly string[] {
  const problems = cases.flatMap(({ title, problems }) => problems.map((problem) => `${title}: ${problem}`));
  const shown = problems.slice(0, SHOWN_PROBLEMS).map((problem) => shorten(plain(problem), width - INDENT.length));
  const more = problems.length - shown.length;
  const rest = more > 0 ? [`… and ${more} more`] : [];
  return [...shown, ...rest].map((line) => `${INDENT}${colors.red(line)}`);
}

function summaryLines({ requirements, conformant, durationMs }: CheckReport, { colors }: Style): readonly string[] {
  const musts = requirements.filter(({ tier }) => tier === "must");
  const shoulds = requirements.filter(({ tier }) => tier === "should");
  const counts = `must: ${countText(musts)}; should: ${countText(shoulds)}; ${(durationMs / 1_000).toFixed(0)} s`;
  const verdict = conformant ? colors.green("Conformant") : colors.red("Not conformant");
  return [`${colors.bold(verdict)} (${counts})`];
}

function countText(requirements: readonly RequirementReport[]): string {
  const count = (verdict: Verdict): number =>
    requirements.filter((requirement) => requirement.verdict === verdict).length;
  return `${count("pass")} PASS, ${count("fail")} FAIL, ${count("notApplicable")} n/a`;
}

function coloured(text: string, verdict: Verdict, { colors }: Style): string {
  if (verdict === "pass") return colors.green(text);
  return verdict === "fail" ? colors.red(text) : colors.dim(text);
}

/** What an agent says may hold anything; on a terminal it must not do anything. */
const plain = (text: string): string =>
  text
    .trim()
    .replace(/\s*\n\s*/g, " ⏎ ")
    .replace(/\p{Cc}/gu, "");
const shorten = (text: string, width: number): string =>
  text.length <= width ? text : `${text.slice(0, Math.max(0, width - 1))}…`;
