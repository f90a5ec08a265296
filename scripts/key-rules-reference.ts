import { ACCESS_RULES } from "../test/domain/access/authorize.rows.ts";
import { CONDITION_RULES } from "../test/domain/key/conditions/readiness.rows.ts";
import { STALE_RULES } from "../test/domain/key/conditions/stale-consumers.rows.ts";
import { WRITE_RULES } from "../test/domain/key/plan/apply-action.rows.ts";
import { KEY_RULES } from "../test/domain/key/plan/plan-key.rows.ts";
import { SECRET_DATA_RULES } from "../test/domain/key/secret/secret-template.rows.ts";
import {
  DAY,
  HOUR,
  isRecord,
  MINUTE,
  NOW,
  type RuleRow,
  type RuleSet,
  type RuleTable,
  SECOND,
} from "../test/domain/rule-table.ts";
import { markdownTable } from "./markdown-table.ts";

type AnyRow = RuleRow<string, unknown, unknown>;

/**
 * Tables of rules, by what they decide: from a declaration to what is stored and delivered, then from a request to its
 * decision.
 */
const RULE_SETS: readonly RuleSet<string, unknown, unknown>[] = [
  KEY_RULES,
  WRITE_RULES,
  SECRET_DATA_RULES,
  CONDITION_RULES,
  STALE_RULES,
  ACCESS_RULES,
];

const HEAD = `<!-- Generated from test/domain/**/*.rows.ts by scripts/generate.ts. -->
# The key's rules

What is decided of a key, row by row. Each row is a test: it takes a situation, changes what the third column says, and expects what the fourth says: of an action the fields that matter, of a key what is different then. Fields are named as in the code, versions by their numbers, and times by how far they are from the moment of the decision; \`requeueAt\` is when the controller looks again by itself. How to change a rule: [CONTRIBUTING](../../CONTRIBUTING.md#change-a-rule-of-keys).`;

/** Returns the reference page of the key's rules, in Markdown. */
export function renderKeyRules(): string {
  return [HEAD, "", ...RULE_SETS.map(contents), ...RULE_SETS.flatMap(section), ""].join("\n");
}

function contents({ title, tables }: RuleSet<string, unknown, unknown>): string {
  return `- [${title}](#${anchor(title)}): ${tables.map(({ decision }) => `[${decision}](#${anchor(decision)})`).join("; ")}`;
}

/** Returns the anchor that GitHub makes of a heading. */
function anchor(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, "")
    .replaceAll(" ", "-");
}

function section({ title, bases, tables }: RuleSet<string, unknown, unknown>): string[] {
  return [
    "",
    `## ${title}`,
    "",
    ...markdownTable(
      ["situation", "what it is"],
      Object.entries(bases).map(([name, { is }]) => [`*${name}*`, is]),
    ),
    ...tables.flatMap(decisionOf),
  ];
}

function decisionOf({ decision, says, source, rows }: RuleTable<string, unknown, unknown>): string[] {
  const head = ["rule", "situation", "what is different", "what happens"];
  return [
    "",
    `### ${decision}`,
    "",
    `${says} ([${source}](../../${source}))`,
    "",
    ...markdownTable(head, rows.map(cellsOf)),
  ];
}

function cellsOf({ rule, from, change, outcome }: AnyRow): string[] {
  return [ruleText(rule), `*${from}*`, fieldsText(change), isRecord(outcome) ? fieldsText(outcome) : String(outcome)];
}

/** Returns the text of a rule, with a link to the row of threats.md that it holds. */
function ruleText(rule: string): string {
  const [, id, words = rule] = /^([bc]\d+): (.*)$/.exec(rule) ?? [];
  return id === undefined ? words : `${words} ([${id}](../security/threats.md))`;
}

/** Returns each field that is not a record by its path, with its value; an action by its name first. */
function fieldsText(fields: unknown): string {
  return leavesOf(fields)
    .map(([path, value]) => (path === "do" ? `**${value}**` : `\`${path}: ${valueText(path, value)}\``))
    .join(", ");
}

function leavesOf(value: unknown, path = ""): [string, unknown][] {
  if (!isRecord(value)) return [[path, value]];
  return Object.entries(value).flatMap(([field, inner]) => leavesOf(inner, path === "" ? field : `${path}.${field}`));
}

/** Names of the fields that hold a moment, and of the fields that hold a length of time. */
const MOMENT = /(\.|^)(at|from|now)$|(At|Until|From|Since)$/;
const LENGTH = /(\.|^)(duration|min|max|quiet)$|(After|Interval)$/;

function valueText(path: string, value: unknown): string {
  if (value === null || value === undefined) return "none";
  if (value === Number.POSITIVE_INFINITY) return "never";
  if (typeof value === "number" && MOMENT.test(path)) return momentText(value - NOW);
  if (typeof value === "number" && LENGTH.test(path)) return lengthText(value);
  if (Array.isArray(value))
    return `[${value.map((one) => (isRecord(one) ? `{${entriesText(one)}}` : one)).join(", ")}]`;
  return value === "" ? '""' : String(value).replace(/\s+/g, " ").trim();
}

function entriesText(record: Readonly<Record<string, unknown>>): string {
  return Object.entries(record)
    .map(([field, value]) => `${field}: ${valueText(field, value)}`)
    .join(", ");
}

function momentText(fromNow: number): string {
  if (fromNow === 0) return "now";
  return fromNow > 0 ? `in ${lengthText(fromNow)}` : `${lengthText(-fromNow)} ago`;
}

const UNITS = [
  ["d", DAY],
  ["h", HOUR],
  ["min", MINUTE],
  ["s", SECOND],
  ["ms", 1],
] as const;

function lengthText(ms: number): string {
  const parts = UNITS.map(([unit, length], i) => {
    const above = UNITS[i - 1]?.[1] ?? Number.POSITIVE_INFINITY;
    return [Math.floor((ms % above) / length), unit] as const;
  });
  return parts.flatMap(([count, unit]) => (count === 0 ? [] : [`${count} ${unit}`])).join(" ") || "0";
}
