import { expect, test } from "vitest";
import { readSearch } from "../../../../../memory/store/search/words/search-words.ts";
import { type Snippet, snippetsOf } from "../../../../../memory/store/search/words/snippet.ts";

function wordsAt(snippet: string, matches: Snippet["matches"]): string[] {
  return matches.map(({ from, to }) => snippet.slice(from, to));
}

const FACES = "🙂".repeat(3_000);

test.each([
  ["around what was found", `${FACES.slice(0, 200)}.needle.${FACES}`],
  ["at a text's beginning", `.needle.${FACES}`],
  ["where the text is looked at no further", `.${FACES}`],
])("a snippet has no half of a character, %s", (_where, content) => {
  const { snippet, matches } = snippetsOf(readSearch("needle"))(content);
  expect(snippet.isWellFormed()).toBe(true);
  expect(wordsAt(snippet, matches)).toEqual(content.includes("needle") ? ["needle"] : []);
});

test("a text has the same snippet whichever texts came before it", () => {
  const search = readSearch("key getUser 轮换");
  const texts = [
    "A key, the KEY, and keys beside monkeys.",
    "密钥轮换的钥 and the key of getUserId, then getuser",
    "Nothing of it here.",
    `The key.${" Another word.".repeat(100)} The key again.`,
    "A key, the KEY, and keys beside monkeys.",
  ];
  const alone = texts.map((text) => snippetsOf(search)(text));
  expect(texts.map(snippetsOf(search))).toEqual(alone);
  expect(alone[1]?.snippet).toBe(texts[1]);
  expect(alone.map(({ snippet, matches }) => wordsAt(snippet, matches))).toEqual([
    ["key", "KEY", "keys", "monkeys"],
    ["轮换", "key", "getUserId", "getuser"],
    [],
    ["key", "key"],
    ["key", "KEY", "keys", "monkeys"],
  ]);
});
