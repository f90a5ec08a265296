import { expect, test } from "vitest";
import { readSearch } from "../../../../store/memory/search/search-words.ts";
import { snippetOf } from "../../../../store/memory/search/snippet.ts";

const FACES = "🙂".repeat(3_000);

test.each([
  ["around what was found", `${FACES.slice(0, 200)}.needle.${FACES}`],
  ["at a text's beginning", `.needle.${FACES}`],
  ["where the text is looked at no further", `.${FACES}`],
])("a snippet has no half of a character, %s", (_where, content) => {
  const snippet = snippetOf(content, readSearch("needle"));
  expect(snippet.isWellFormed()).toBe(true);
  expect(snippet.includes("**needle**")).toBe(content.includes("needle"));
});
