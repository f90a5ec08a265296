/**
 * A guide as one script: what a reader saves and what a reader runs, from its top to its end, each once. Where a change
 * takes time to hold, the page waits.
 */
import { blocksIn } from "./blocks.ts";

const SAVED = /Save as `([\w./~-]+\.\w+)`[^\n]*:\n\n```\w+\n([\s\S]*?)```/g;

/** What a page has below one of its headings, and above the next. */
export function sectionOf(page: string, heading: string): string {
  const section = page.split(/^## /m).find((text) => text.startsWith(`${heading}\n`));
  if (section === undefined) throw new Error(`there is no heading "${heading}"`);
  return section;
}

/** The lines that a page shows as what its commands print: those in blocks of no language. */
export function printedBy(page: string): string[] {
  return blocksIn(page).flatMap(({ language, text, isMarkedNotRun }) =>
    language === "" && !isMarkedNotRun ? text.trimEnd().split("\n") : [],
  );
}

/**
 * The first line that a page shows as printed and that is not among what its commands print, in the page's order. What
 * differs from one run to the next is compared by its shape: prefixes, ids, and how long to wait.
 *
 * @param page its Markdown
 * @param printed by its script
 */
export function firstUnprinted(page: string, printed: string): string | undefined {
  const lines = printed.split("\n").map(shapeOf);
  let from = 0;
  return printedBy(page).find((line) => {
    from = lines.indexOf(shapeOf(line), from) + 1;
    return from === 0;
  });
}

function shapeOf(line: string): string {
  return line
    .trim()
    .replaceAll(/inf_\w{8}/g, "inf_PREFIX")
    .replaceAll(/key_\w+/g, "key_ID")
    .replaceAll(/req_[\w-]+/g, "req_ID")
    .replaceAll(/(retry-after: |;t=|try again in )\d+/g, "$1SECONDS");
}

/**
 * @param page its Markdown
 * @param manifests where manifests that are saved go; other files go where they are said to be
 */
export function scriptOf(page: string, manifests: string): string {
  const saves = [...page.matchAll(SAVED)].map(({ index, 1: file = "", 2: text }) => {
    const path = file.endsWith(".yaml") ? `${manifests}/${file}` : file.replace(/^~/, "$HOME");
    const save = `mkdir -p "$(dirname "${path}")"\ncat > "${path}" <<'END OF ${file}'\n`;
    return { index, text: `${save}${text}END OF ${file}\n` };
  });
  const runs = blocksIn(page).flatMap(({ index, language, text, isMarkedNotRun }) =>
    language === "sh" && !isMarkedNotRun ? [{ index, text }] : [],
  );
  const steps = [...saves, ...runs].sort((one, other) => one.index - other.index);
  return ["set -euo pipefail\n", ...steps.map(({ text }) => text)].join("");
}
