import { expect, test } from "vitest";
import { parse } from "yaml";
import { KIND_WORDS, kindOf, unknownKind } from "../../../cli/source/kind-words.ts";
import { filesBelow, read } from "../../architecture/sources.ts";

test("a kind is known by every name that crds/ gives it", () => {
  const definitions = filesBelow("crds", ".yaml").map((file) => parse(read(file)).spec.names);
  expect(definitions).toHaveLength(Object.keys(KIND_WORDS).length);
  for (const { kind, plural, singular, shortNames } of definitions) {
    for (const word of [kind, plural, singular, ...shortNames]) expect(kindOf(word), word).toBe(kind);
  }
});

test("a kind has no word of another's", () => {
  const words = Object.values(KIND_WORDS).flat();
  expect(new Set(words).size).toBe(words.length);
  expect(kindOf("pods")).toBeUndefined();
});

test.each([
  ["kyes", "get kyes: there is no such kind: did you mean keys?"],
  ["gatway", "get gatway: there is no such kind: did you mean gateway?"],
  ["al", "get al: there is no such kind: did you mean all?"],
  ["pods", "get pods: there is no such kind: write keys, teams, policies, gateways, libraries or all"],
])("a word that means no kind is refused with the one that was meant: %s", (word, message) => {
  expect(unknownKind("get", word, "all").message).toBe(message);
});
