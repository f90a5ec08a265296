import { expect, test } from "vitest";
import { boundedSuggest } from "../../../domain/manifest/suggestion.ts";

test("names are suggested for so many comparisons alone, whatever misspelt names there are", () => {
  const suggest = boundedSuggest(5);
  const candidates = ["main", "spare"];
  expect([1, 2, 3].map(() => suggest("mian", candidates))).toEqual(["main", "main", undefined]);
  expect(suggest("mian", ["main"])).toBe("main");
});
