/** Plain present-day English that names its actor, in what readers of the code and of the pages read. */
import { expect, it } from "vitest";
import { FOLDERS, filesBelow, read } from "./sources.ts";

const WORDS = ["told", "nobody", "somebody", "anybody", "whoever"];
const capital = (word: string): string => `${word.slice(0, 1).toUpperCase()}${word.slice(1)}`;
/** The words by themselves, and as a part of a name such as `lastToldAt`, `told_at` or `NOBODY`; not within `getOlds`. */
const WRONG = new RegExp(
  [
    `(?<![A-Za-z])(?:${WORDS.join("|")})s?(?![a-z])`,
    `(?:${WORDS.map(capital).join("|")})s?(?![a-z])`,
    `(?<![A-Za-z])(?:${WORDS.join("|").toUpperCase()})S?(?![A-Za-z])`,
  ].join("|"),
);

/** Phrases that hide who does what, in pages and in what users are shown. */
const PHRASES = [
  ...["is gone through", "begins? anew", "of yours", "what holds", "come of", "what came of", "where nothing is said"],
  ...["would have done"],
];
const WRONG_PHRASE = new RegExp(`\\b(?:${PHRASES.join("|")})\\b`, "i");

/** Folders, each with the endings of the files whose every line is held to this: comments, strings and names. */
const SOURCES: Readonly<Record<string, readonly string[]>> = {
  ...Object.fromEntries(FOLDERS.map((folder) => [folder, [".ts"]])),
  ...{ scripts: [".ts"], test: [".ts"], crds: [".yaml"] },
  infra: [".ts", ".yaml", ".json", ".tpl", ".txt"],
  examples: [".ts", ".yaml", ".yml"],
};

/** Files, or folders, that keep such a word. */
const KEPT: Readonly<Record<string, string>> = {
  "test/architecture/words.test.ts": "names the words",
  "test/memory/store/search/corpus/": "what users remember, in their words",
  "test/env/database/pgbouncer.ts": "runs PgBouncer as the system's user nobody",
};

/** Pages that the code writes: those of the reference but for these. */
const OTHER_PAGES =
  /^docs\/reference\/(?!console|declarations|management-api|memory\.|model-gateway-calls|requests|running)/;
/** Of a page what is no prose of its own: blocks, headings, what it quotes, links, and names of tests. */
const QUOTED = /^( *)```[\s\S]*?^\1```$|^#.*$|`[^`\n]*`|"[^"\n]*"|\]\([^)\n]*\)|\btest\/[\w/.-]+/gm;

function wrongLines(file: string): string[] {
  return read(file)
    .split("\n")
    .flatMap((line, i) => (WRONG.test(line) ? [`${file}:${i + 1}: ${line.trim()}`] : []));
}

it.each(Object.entries(SOURCES))("comments, strings and names in %s name who does what", (folder, endings) => {
  const files = endings.flatMap((ending) => filesBelow(folder, ending));
  const held = files.filter((file) => !Object.keys(KEPT).some((kept) => file.startsWith(kept)));
  expect(held.flatMap(wrongLines)).toEqual([]);
});

it("finds a word as a part of a name, and not within another word", () => {
  const found = ["told", "Told of", "lastToldAt", "told_at", "isNobodys", "NOBODY", "AS_NOBODY"];
  expect(found.filter((text) => !WRONG.test(text))).toEqual([]);
  expect(["getOlds", "hasOldest", "toldest", "TOLDEST"].filter((text) => WRONG.test(text))).toEqual([]);
});

/** Lines of a source that a user may read: what stands in quotes or a template. */
const MESSAGE = /^(?!\s*(?:\*|\/\*|\/\/)).*["'`].*$/;

it("messages and pages have none of the phrases that say it in a roundabout way", () => {
  const sources = FOLDERS.flatMap((folder) => filesBelow(folder, ".ts"));
  const wrong = [...sources, ...pagesOfPeople()].flatMap((file) =>
    read(file)
      .split("\n")
      .filter((line) => WRONG_PHRASE.test(line) && (file.endsWith(".md") || MESSAGE.test(line.replace(/\/\/.*$/, ""))))
      .map((line) => `${file}: ${line.slice(0, 200)}`),
  );
  expect(wrong).toEqual([]);
});

it("pages name who does what", () => {
  const wrong = pagesOfPeople().flatMap((page) => {
    const prose = read(page).replaceAll(QUOTED, "");
    return prose.split("\n").flatMap((line) => (WRONG.test(line) ? [`${page}: ${line.slice(0, 200)}`] : []));
  });
  expect(wrong).toEqual([]);
});

/** Pages of those who change Keyplane, whose sentences may be longer. */
const CONTRIBUTORS =
  /^docs\/(?:decisions|maintainers)\/|^docs\/(?:architecture|performance|testing)\.md|^docs\/security\/(?:threats|elsewhere)\.md/;
const MOST_WORDS = 30;

it("sentences of users' pages have at most 30 words, or a semicolon or a colon in between", () => {
  const pages = [...filesBelow("docs", ".md"), "README.md"];
  const long = pages
    .filter((page) => !OTHER_PAGES.test(page) && !CONTRIBUTORS.test(page))
    .flatMap((page) =>
      sentencesOf(read(page))
        .filter((sentence) => sentence.split(/\s+/).length > MOST_WORDS)
        .map((sentence) => `${page}: ${sentence}`),
    );
  expect(long).toEqual([]);
});

/** The guides of proxies, whose configurations count as words, have 3,600 of them. */
const MOST_WORDS_OF_ALL = 84_000;

it("users' pages are short enough to be read", () => {
  const pages = [...filesBelow("docs", ".md"), "README.md"].filter(
    (page) => !CONTRIBUTORS.test(page) && page !== "docs/reference/key-rules.md",
  );
  const words = pages.reduce((sum, page) => sum + read(page).split(/\s+/).length, 0);
  expect(words).toBeLessThanOrEqual(MOST_WORDS_OF_ALL);
});

/** The sentences of a page's paragraphs and lists, with one word for what stands in backquotes. */
function sentencesOf(page: string): string[] {
  const prose = page
    .replaceAll(/^( *)```[\s\S]*?^\1```$|<!--[\s\S]*?-->|^(?:\||#).*$/gm, "")
    .replaceAll(/\]\([^)]*\)/g, "]")
    .replaceAll(/`[^`]*`/g, "CODE");
  return prose.split(/\n\s*\n|\n(?=\s*(?:[-*]|\d+\.) )|(?<=[.!?:;])\s+/).map((sentence) => sentence.trim());
}

function pagesOfPeople(): string[] {
  const pages = [...filesBelow("docs", ".md"), "README.md", "CONTRIBUTING.md", "SECURITY.md"];
  return pages.filter((page) => !OTHER_PAGES.test(page));
}
