/** Docstrings of what users run: each begins with a verb or a noun, and says "if" where it means a condition. */
import { expect, it } from "vitest";
import { FOLDERS, filesBelow, read } from "./sources.ts";

/** Words that begin a question, a clause or a reference to something else, and so name no thing and no deed. */
const FIRST_WORDS = [
  ...["What", "How", "Whether", "Where", "When", "Why", "Which", "Who", "Whom", "Whose", "If", "Is", "Are"],
  ...["Of", "By", "As", "In", "On", "At", "To", "From", "For", "With", "Without", "Until", "Since", "After", "Before"],
  ...["Between", "Beyond", "Beside", "Below", "Above", "Under", "Up", "Within", "Among", "While", "Because"],
  ...["That", "Those", "These", "This", "It", "They", "Both", "Nothing", "Not", "Only", "Also", "So", "And", "But"],
  ...["Then", "Same", "Here"],
];
const WRONG_START = new RegExp(`^(?:${FIRST_WORDS.join("|")})\\b`);
const WRONG_PHRASE = /\b(?:undefined|null|true|false|none) where\b|\bone that\b|\bthat one\b/i;

/** The docstrings of a file, each with the number of its first line. */
function docstringsOf(file: string): { readonly line: number; readonly text: string }[] {
  const source = read(file);
  return [...source.matchAll(/\/\*\*(.*?)\*\//gs)].map((match) => ({
    line: source.slice(0, match.index).split("\n").length,
    text: (match[1] ?? "").replaceAll(/^\s*\* ?/gm, "").trim(),
  }));
}

it.each(FOLDERS)("docstrings of %s begin with a verb or a noun", (folder) => {
  const wrong = filesBelow(folder, ".ts")
    .filter((file) => !file.includes("/generated/"))
    .flatMap((file) =>
      docstringsOf(file)
        .filter(({ text }) => WRONG_START.test(text) || WRONG_PHRASE.test(text))
        .map(({ line, text }) => `${file}:${line}: ${text.slice(0, 100)}`),
    );
  expect(wrong).toEqual([]);
});
