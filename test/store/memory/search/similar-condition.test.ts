import { expect, test } from "vitest";
import { readSearch } from "../../../../store/memory/search/search-words.ts";
import { wantedWords } from "../../../../store/memory/search/similar-condition.ts";

/** How often it is asked what share of the atoms has something. */
function questionsFor(query: string): number {
  let questions = 0;
  wantedWords(readSearch(query).wanted, () => {
    questions++;
    return 0;
  });
  return questions;
}

test("b83: as much is looked for of a word of a thousand letters as of one of sixty-four", () => {
  const letters = Array.from({ length: 1_000 }, (_, at) => "abcdefghijklmnopqrstuvwxyz"[(at * at + 3 * at) % 26]).join(
    "",
  );
  expect(questionsFor(letters)).toBe(questionsFor(letters.slice(0, 64)));
});
