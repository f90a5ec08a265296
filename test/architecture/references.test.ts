import { describe, expect, it } from "vitest";
import { FOLDERS, filesBelow, read } from "./sources.ts";

const FILES = [
  "README.md",
  "CONTRIBUTING.md",
  ...[...FOLDERS, "crds", "docs", "examples", "scripts", "test"].flatMap((folder) => filesBelow(folder, "")),
].filter((file) => /\.(ts|md|yaml)$/.test(file) && !file.endsWith("/references.test.ts"));
/** Each file's text, with the lines of a comment as one. */
const TEXTS = FILES.map((file) => ({ file, text: read(file).replace(/\n\s*(?:\*(?!\/)|\/\/|--)?\s*/g, " ") }));

const PAGES: Readonly<Record<string, readonly string[]>> = {
  spec: sectionsOf("docs/spec.md"),
  architecture: sectionsOf("docs/architecture.md"),
};
/** What a section's number belongs to: the last of these before it. */
const PAGE = /\b(spec|architecture|RFC \d+|OpenID Connect (?:Core|Discovery|Back-Channel Logout))\b/g;

/** The numbers of a page's headings, as in `## 2. ...` and `### 2.8 ...`. */
function sectionsOf(page: string): readonly string[] {
  return [...read(page).matchAll(/^#+ (\d+(?:\.\d+)*)\.? /gm)].map(([, number = ""]) => number);
}

/** What a comment says of `RFC 9110 §7.6.1` is not ours to judge. */
function sectionsNamedIn(text: string): { readonly page: string; readonly section: string }[] {
  return [...text.matchAll(/§(\d+(?:\.\d+)*)/g)]
    .map(({ 1: section = "", index }) => {
      const page = [...text.slice(Math.max(0, index - 60), index).matchAll(PAGE)].at(-1)?.[1] ?? "no page";
      return { page, section };
    })
    .filter(({ page }) => page in PAGES || page === "no page");
}

/** The words that each text has, with the file. */
function wordsIn(texts: typeof TEXTS, pattern: RegExp): { readonly file: string; readonly word: string }[] {
  return texts.flatMap(({ file, text }) => [...text.matchAll(pattern)].map(([word]) => ({ file, word })));
}

describe("a reference to a page", () => {
  it("names a page that is there", () => {
    const named = wordsIn(TEXTS, /\bdocs\/[\w/-]+\.md\b/g);
    expect(named.length).toBeGreaterThan(10);
    expect(named.filter(({ word }) => !FILES.includes(word))).toEqual([]);
  });

  it("names a section that is there", () => {
    const named = TEXTS.flatMap(({ file, text }) => sectionsNamedIn(text).map((one) => ({ file, ...one })));
    expect(named.length).toBeGreaterThan(80);
    expect(named.filter(({ page, section }) => !PAGES[page]?.includes(section))).toEqual([]);
  });

  it("names an invariant that is there", () => {
    const known = wordsIn(
      TEXTS.filter(({ file }) => file === "docs/architecture.md"),
      /(?<=- )I\d+(?=: )/g,
    );
    expect(known.map(({ word }) => word)).toEqual(["I1", "I2", "I3", "I4", "I5", "I6", "I7", "I8", "I9"]);
    const named = wordsIn(TEXTS, /\bI\d+\b/g);
    expect(named.filter(({ word }) => !known.some((one) => one.word === word))).toEqual([]);
  });

  it("names a row of threats.md that is there, and says that it is one", () => {
    const rows = new Set([...read("docs/security/threats.md").matchAll(/^\| ([bc]\d+) \|/gm)].map(([, row]) => row));
    const named = wordsIn(TEXTS, /\bthreats(?:\.md)? [bc]\d+(?:(?:, | and |-)[bc]\d+)*/g).flatMap(({ file, word }) =>
      wordsIn([{ file, text: word }], /[bc]\d+/g),
    );
    expect(named.length).toBeGreaterThan(20);
    expect(named.filter(({ word }) => !rows.has(word))).toEqual([]);
    expect(wordsIn(TEXTS, /\([bc]\d+[,)]/g)).toEqual([]);
  });
});
