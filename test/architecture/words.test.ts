/** Plain present-day English that names its actor, in what readers of the code and of the pages read. */
import { expect, it } from "vitest";
import { filesBelow, read } from "./sources.ts";

const WORDS = /\b(?:told|nobody|whoever|somebody|anybody)\b/i;

const FOLDERS = ["domain", "runtime", "store", "controller", "server", "cli", "infra", "scripts"];
/** A line that is a comment, or part of one. */
const COMMENT = /^\s*(?:\/\/|\/\*\*?|\*)(?=\s|$)/;

/** Pages that the code writes. */
const OTHER_PAGES = /^docs\/reference\//;
/** Of a page what is no prose of its own: blocks, headings, what it quotes, links, and names of tests. */
const QUOTED = /^( *)```[\s\S]*?^\1```$|^#.*$|`[^`\n]*`|"[^"\n]*"|\]\([^)\n]*\)|\btest\/[\w/.-]+/gm;

it.each(FOLDERS)("comments in %s name who does what", (folder) => {
  const wrong = filesBelow(folder, ".ts").flatMap((file) =>
    read(file)
      .split("\n")
      .flatMap((line, i) => (COMMENT.test(line) && WORDS.test(line) ? [`${file}:${i + 1}: ${line.trim()}`] : [])),
  );
  expect(wrong).toEqual([]);
});

it("pages name who does what", () => {
  const pages = [...filesBelow("docs", ".md"), "README.md", "CONTRIBUTING.md", "SECURITY.md"];
  const wrong = pages
    .filter((page) => !OTHER_PAGES.test(page))
    .flatMap((page) => {
      const prose = read(page).replaceAll(QUOTED, "");
      return prose.split("\n").flatMap((line) => (WORDS.test(line) ? [`${page}: ${line.slice(0, 200)}`] : []));
    });
  expect(wrong).toEqual([]);
});
