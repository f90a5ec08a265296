import { expect, test } from "vitest";
import { boundedSuggest, suggest } from "../../../../domain/manifest/document/suggestion.ts";

test("names are suggested for so many comparisons alone, whatever misspelt names there are", () => {
  const suggest = boundedSuggest(5);
  const candidates = ["main", "spare"];
  expect([1, 2, 3].map(() => suggest("mian", candidates))).toEqual(["main", "main", undefined]);
  expect(suggest("mian", ["main"])).toBe("main");
});

test("a word that only one name begins with is taken for the beginning of that", () => {
  const names = ["gatewayRef", "libraryAccess", "rateLimit", "rotation"];
  expect(["gateway", "Library", "ro", "rate"].map((word) => suggest(word, names))).toEqual([
    "gatewayRef",
    "libraryAccess",
    undefined,
    "rateLimit",
  ]);
  expect(suggest("memory", ["memoryRead", "memoryWrite"])).toBeUndefined();
});
