import type { CaseReport, CheckReport, RequirementReport } from "@acp-steering/testkit";

type Tier = RequirementReport["tier"];

const TIERS: readonly Tier[] = ["must", "should", "informs"];

/** The report as JUnit XML, one suite for each tier and one test for each case. */
export function junitOf(report: CheckReport): string {
  const suites = TIERS.map((tier) => suiteOf(report, tier)).filter((suite) => suite !== "");
  const name = attribute(report.agent.name ?? report.agent.command.join(" "));
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="${name}">\n${suites.join("")}</testsuites>\n`;
}

function suiteOf({ requirements, startedAt }: CheckReport, tier: Tier): string {
  const cases = requirements
    .filter((requirement) => requirement.tier === tier)
    .flatMap((requirement) => requirement.cases);
  if (cases.length === 0) return "";
  const count = (verdict: CaseReport["verdict"]): number => cases.filter((report) => report.verdict === verdict).length;
  const time = seconds(cases.reduce((sum, { durationMs }) => sum + durationMs, 0));
  const counts = `tests="${cases.length}" failures="${count("fail")}" errors="0" skipped="${count("notApplicable")}"`;
  const body = cases.map((report) => testOf(report, tier)).join("");
  return `  <testsuite name="${tier}" ${counts} time="${time}" timestamp="${startedAt}">\n${body}  </testsuite>\n`;
}

function testOf(report: CaseReport, tier: Tier): string {
  const { requirement, title, durationMs } = report;
  const head = `    <testcase classname="${tier}.${attribute(requirement)}" name="${attribute(`${requirement}: ${title}`)}" time="${seconds(durationMs)}"`;
  const body = bodyOf(report);
  return body === "" ? `${head}/>\n` : `${head}>\n${body}    </testcase>\n`;
}

function bodyOf({ verdict, problems, reason, figure }: CaseReport): string {
  if (verdict === "notApplicable") return `      <skipped message="${attribute(reason ?? "")}"/>\n`;
  if (verdict === "fail") {
    return `      <failure message="${attribute(problems[0] ?? "")}">${text(problems.join("\n"))}</failure>\n`;
  }
  return figure === undefined ? "" : `      <system-out>${text(figure)}</system-out>\n`;
}

const seconds = (milliseconds: number): string => (milliseconds / 1_000).toFixed(3);
/** What XML 1.0 cannot carry, escaped or not: controls but for tab and line ends, halves of pairs, two non-characters. */
const UNFIT = /[^\P{Cc}\t\n\r]|\p{Surrogate}|[\ufffe\uffff]/gu;
const clean = (value: string): string => value.replace(UNFIT, "\ufffd");
const text = (value: string): string => clean(value).replace(/[&<>]/g, escaped);
const attribute = (value: string): string => clean(value).replace(/[&<>"\n\r\t]/g, escaped);
const escaped = (character: string): string => `&#${character.charCodeAt(0)};`;
