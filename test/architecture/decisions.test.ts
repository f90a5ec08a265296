/** The one form of a decision's page: a reader finds what was decided, why, and what was turned down. */
import { expect, it } from "vitest";
import { filesBelow, read } from "./sources.ts";

const PAGES = filesBelow("docs/decisions", ".md");
const PARTS = ["Status", "Context", "Decision", "Alternatives"];
/** A part begins a paragraph. What stands between Decision and Alternatives belongs to the decision. */
const PART = /^\*\*(Status|Context|Decision|Alternatives)\.\*\* \S/gm;
/** Characters of a paragraph, or of an item of a list. */
const MOST = 600;

it.each(PAGES)("%s has the four parts, in their order", (file) => {
  expect([...read(file).matchAll(PART)].map(([, part]) => part)).toEqual(PARTS);
});

it.each(PAGES)("%s is of one subject", (file) => {
  expect(read(file).match(/^#+ .+$/gm)).toHaveLength(1);
});

it.each(PAGES)("%s has no paragraph that is too long to be taken in", (file) => {
  const long = read(file)
    .split("\n")
    .filter((line) => line.length > MOST);
  expect(long.map((line) => `${line.length}: ${line.slice(0, 60)}`)).toEqual([]);
});
