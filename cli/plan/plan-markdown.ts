/** Plan as a comment on a pull request. */
import { titleOf } from "../../controller/cluster/titles.ts";
import type { Plan } from "./make-plan.ts";
import { planLines, summarize } from "./plan-output.ts";
import type { PlannedObject } from "./planned-objects.ts";

/** Marker by which a later run finds its own comment. */
export const PLAN_MARK = "<!-- keyplane plan -->";

/** Largest comment, in characters. GitHub refuses more than 65,536. */
const MAX_CHARACTERS = 60_000;
/**
 * Largest number of table rows, and of warnings, and of the characters of each. The folded lines below have them all.
 */
const MAX_ROWS = 100;
const MAX_ROWS_CHARACTERS = 20_000;

const WORDS: Readonly<Record<PlannedObject["action"], string>> = {
  create: "created",
  change: "changed",
  delete: "deleted",
  none: "not changed itself",
};

/**
 * Returns the plan in the Markdown of GitHub and GitLab: deletions and problems on top, a row for each object, and the
 * lines of the plan folded. Text from manifests appears as code alone, so nothing in it is markup, a link or a mention.
 */
export function planMarkdown(plan: Plan): string {
  const lines = planLines(plan);
  const first = lines.filter((line) => /^[-!]/.test(line));
  const rows = plan.objects.map((object) => {
    const { action, changes } = object;
    return `| ${code(titleOf(object))} | ${WORDS[action]} | ${changes.length} |`;
  });
  const parts = [
    PLAN_MARK,
    `### keyplane plan: ${summarize(plan)}`,
    ...(first.length === 0
      ? []
      : [
          [
            "> [!WARNING]",
            ...cut(
              first.map((line) => `> - ${code(line)}`),
              "> - ",
            ),
          ].join("\n"),
        ]),
    ...(rows.length === 0 ? [] : [["| object | is | changes |", "|---|---|---|", ...cut(rows, "")].join("\n")]),
  ];
  const top = parts.join("\n\n");
  return lines.length === 0 ? top : `${top}\n\n${folded(lines, MAX_CHARACTERS - top.length)}`;
}

function cut(lines: readonly string[], begin: string): string[] {
  const shown = fitting(lines.slice(0, MAX_ROWS), MAX_ROWS_CHARACTERS);
  const more = lines.length - shown.length;
  return more > 0 ? [...shown, `${begin}and ${more} more`] : shown;
}

/** Returns the first lines whose characters fit into the space. */
function fitting(lines: readonly string[], space: number): string[] {
  let left = space;
  const end = lines.findIndex((line) => {
    left -= line.length + 1;
    return left < 0;
  });
  return lines.slice(0, end === -1 ? lines.length : end);
}

/** Returns as many of the lines as fit, folded. Each begins with its sign, so that no line ends the code block. */
function folded(lines: readonly string[], space: number): string {
  const shown = fitting(lines, space);
  const more = lines.length - shown.length;
  const rest = more === 0 ? [] : ["", `${more} more lines are in the output of \`keyplane plan\`.`];
  return [
    `<details><summary>${lines.length} ${lines.length === 1 ? "line" : "lines"}</summary>`,
    "",
    "```diff",
    ...shown,
    "```",
    ...rest,
    "",
    "</details>",
  ].join("\n");
}

/** Returns a code span on one line. A bar would end the cell of a table even within code, so it is replaced. */
function code(text: string): string {
  const line = text.replaceAll("|", "¦");
  const fence = "`".repeat(longestTicks(line) + 1);
  return `${fence} ${line} ${fence}`;
}

function longestTicks(text: string): number {
  return Math.max(0, ...[...text.matchAll(/`+/g)].map(([ticks]) => ticks.length));
}
