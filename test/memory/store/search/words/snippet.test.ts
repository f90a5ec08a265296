import { expect, test } from "vitest";
import { readSearch } from "../../../../../memory/store/search/words/search-words.ts";
import { snippetsOf } from "../../../../../memory/store/search/words/snippet.ts";

const FACES = "🙂".repeat(3_000);

test.each([
  ["around what was found", `${FACES.slice(0, 200)}.needle.${FACES}`],
  ["at a text's beginning", `.needle.${FACES}`],
  ["where the text is looked at no further", `.${FACES}`],
])("a snippet has no half of a character, %s", (_where, content) => {
  const snippet = snippetsOf(readSearch("needle"))(content);
  expect(snippet.isWellFormed()).toBe(true);
  expect(snippet.includes("**needle**")).toBe(content.includes("needle"));
});

test("a text has the same snippet whichever texts came before it", () => {
  const search = readSearch("key getUser 轮换");
  const texts = [
    "A key, the KEY, and keys beside monkeys.",
    "密钥轮换的钥 and the key of getUserId, then getuser",
    "Nothing of it here.",
    `The key.${" Another word.".repeat(300)} The key again.`,
    "A key, the KEY, and keys beside monkeys.",
  ];
  const alone = texts.map((text) => snippetsOf(search)(text));
  expect(texts.map(snippetsOf(search))).toEqual(alone);
  expect(alone[1]).toBe("密钥**轮换**的钥 and the **key** of **getUserId**, then **getuser**");
});
