import { BOUNDARY_CASES, CASES, type Case } from "../src/cases/index.js";
import type { Need, Tier } from "../src/requirements/requirement.js";
import { REQUIREMENTS } from "../src/requirements/requirements.js";

const TIERS: readonly (readonly [Tier, string])[] = [
  ["must", "Without these a host cannot rely on the agent's steering."],
  ["should", "The rest of the contract, each part where the agent advertises it."],
  ["informs", "Figures and habits; nothing to pass or fail."],
];

const NEEDS: Readonly<Record<Need, string>> = {
  model: "a model that the suite answers for",
  tool: "a shell tool",
  permission: "that the agent asks before it runs it",
  receipts: "receipts, advertised",
  revoke: "revoke, advertised",
  idlePolicy: "`idleBehavior`, advertised",
  names: "a `messageId` in its results",
  close: "`session/close`, advertised",
  commands: "`/steer`, announced",
  driver: "a driver that the suite knows (in process only)",
};

const HEAD = `# What is checked

The requirements of a steerable agent, as [\`acp-steer check\`](check.md) and \`conformance()\` judge them. A requirement that
needs something which is not there does not apply. The sources are sections of [the contract](contract.md) and
numbers of [public reports](cases.md). This page is written from \`REQUIREMENTS\` of \`@acp-steering/testkit\`.
`;

const linked = (source: string): string =>
  source.replace("contract", "[contract](contract.md)").replace(/cases?(?= \d)/, (word) => `[${word}](cases.md)`);

const situations = (id: string): string =>
  [...CASES, ...BOUNDARY_CASES]
    .filter(({ requirement }) => requirement === id)
    .map(({ title }: Case) => title)
    .join(" · ");

const section = ([tier, about]: readonly [Tier, string]): string => {
  const ofTier = REQUIREMENTS.filter((requirement) => requirement.tier === tier);
  const items = ofTier.map(({ id, holds, source, needs }) => {
    const needed = needs.map((need: Need) => NEEDS[need]).join(", ");
    const lines = [`- **\`${id}\`** ${holds}`, `  Source: ${linked(source)}.`, `  Played: ${situations(id)}.`];
    return [...lines, ...(needed === "" ? [] : [`  Needs: ${needed}.`])].join("\\\n");
  });
  return `## ${tier}\n\n${about}\n\n${items.join("\n")}\n`;
};

/** docs/requirements.md, from the data. */
export const requirementsPage = (): string => [HEAD, ...TIERS.map(section)].join("\n");
