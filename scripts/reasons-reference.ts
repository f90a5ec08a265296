import { CONDITION_TYPES, condition, progressOf, REASONS, type Reason } from "../domain/conditions.ts";
import { PROBLEMS } from "../server/http/problems/catalogue.ts";

/** The reference page of what conditions and the server's answers say, in Markdown. */
export function renderReasons(): string {
  const reasons = Object.keys(REASONS) as Reason[];
  return [
    "<!-- Generated from domain/conditions.ts and server/http/problems/catalogue.ts by scripts/generate.ts. -->",
    "# Reasons and codes",
    "",
    `Objects of Keyplane's kinds have the conditions ${CONDITION_TYPES.map(quoted).join(", ")}, each with a reason and a message for people. [How to read them](../operations/conditions.md#reading-the-state).`,
    "",
    "## Reasons that wait for a person",
    "",
    "Where `Ready` is False for one of these, `Stalled` is True with it: time does not end it, nor what else is applied.",
    "",
    ...reasonTable(reasons.filter(isStalled)),
    "",
    "## The other reasons",
    "",
    "Where `Ready` is False for one of these, `Reconciling` is True with it.",
    "",
    ...reasonTable(reasons.filter((reason) => !isStalled(reason) && REASONS[reason] !== "")),
    "",
    `Nothing is to be done about ${reasons
      .filter((reason) => REASONS[reason] === "")
      .map(quoted)
      .join(", ")}.`,
    "",
    "## Codes of answers",
    "",
    "The field `code` of a problem (`application/problem+json`, RFC 9457), whose `detail` may say more than this.",
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
