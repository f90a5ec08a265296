import { CONDITION_TYPES, condition, progressOf, REASONS, type Reason } from "../domain/conditions.ts";
import { PROBLEMS } from "../server/http/problems/catalogue.ts";

/** Returns the reference page of the reasons of conditions and of the codes of the server's answers, in Markdown. */
export function renderReasons(): string {
  const reasons = Object.keys(REASONS) as Reason[];
  return [
    "<!-- Generated from domain/conditions.ts and server/http/problems/catalogue.ts by scripts/generate.ts. -->",
    "# Reasons and codes",
    "",
    `Conditions are ${CONDITION_TYPES.map(quoted).join(", ")}, each with a reason and a message. [Reading conditions](../operations/conditions.md#reading-the-state).`,
    "",
    "## Reasons that need an action",
    "",
    "Where `Ready` is False for one of these, `Stalled` is True: neither waiting nor other changes help.",
    "",
    ...reasonTable(reasons.filter(isStalled)),
    "",
    "## Other reasons",
    "",
    "Where `Ready` is False for one of these, `Reconciling` is True.",
    "",
    ...reasonTable(reasons.filter((reason) => !isStalled(reason) && REASONS[reason] !== "")),
    "",
    `These need no action: ${reasons
      .filter((reason) => REASONS[reason] === "")
      .map(quoted)
      .join(", ")}.`,
    "",
    "## Codes of answers",
    "",
    "Values of `code` in a problem document (`application/problem+json`, RFC 9457), whose `detail` may say more.",
    "",
    "| code | status | meaning |",
    "|---|---|---|",
    ...Object.entries(PROBLEMS).map(([code, { status, detail }]) => `| ${quoted(code)} | ${status} | ${detail} |`),
    "",
  ].join("\n");
}

const quoted = (word: string) => `\`${word}\``;

function isStalled(reason: Reason): boolean {
  return progressOf(condition("Ready", "False", reason, "")).some(({ type }) => type === "Stalled");
}

function reasonTable(reasons: readonly Reason[]): string[] {
  const rows = reasons.map((reason) => `| ${quoted(reason)} | ${REASONS[reason]} |`);
  return ["| reason | what to do |", "|---|---|", ...rows];
}
