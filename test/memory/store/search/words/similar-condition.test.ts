import { expect, test } from "vitest";
import type { TextQuery } from "../../../../../memory/store/rows/text-query.ts";
import { readSearch } from "../../../../../memory/store/search/words/search-words.ts";
import { shareIn, wantedWords } from "../../../../../memory/store/search/words/similar-condition.ts";

/** How often it is asked what share of the atoms has something. */
function questionsFor(query: string): number {
  let questions = 0;
  const share = () => {
    questions++;
    return 0;
  };
  wantedWords(readSearch(query).wanted, share, () => 0);
  return questions;
}

test("b83: as much is looked for of a word of a thousand letters as of one of sixty-four", () => {
  const letters = Array.from({ length: 1_000 }, (_, at) => "abcdefghijklmnopqrstuvwxyz"[(at * at + 3 * at) % 26]).join(
    "",
  );
  expect(questionsFor(letters)).toBe(questionsFor(letters.slice(0, 64)));
});

const A: TextQuery = { kind: "word", lexeme: "part ^ab" };
const B: TextQuery = { kind: "word", lexeme: "part cde" };

test.each<[string, TextQuery, number]>([
  ["a part", A, 0.5],
  ["without a part", { kind: "not", of: A }, 0.5],
  ["all of two", { kind: "and", of: [A, B] }, 0.25],
  ["any of two", { kind: "or", of: [A, B] }, 0.75],
  ["one without the other", { kind: "and", of: [A, { kind: "not", of: B }] }, 0.25],
  ["all of none", { kind: "and", of: [] }, 1],
  ["any of none", { kind: "or", of: [] }, 0],
])("the share of texts that have %s", (_what, condition, share) => {
  const shareOf = shareIn(["^abx", "^abcde", "^xcde", "^xyz"]);
  expect(shareOf(condition)).toBe(share);
  // By then each part is known.
  expect(shareOf(condition)).toBe(share);
});

test("of no texts none has anything", () => expect(shareIn([])(A)).toBe(0));
