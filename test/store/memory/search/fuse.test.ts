import { expect, test } from "vitest";
import { fuse } from "../../../../store/memory/search/fuse.ts";

const ids = (rankings: readonly (readonly string[])[]) => fuse(rankings).map(({ id }) => id);

test("What several rankings have comes before what one of them has first", () => {
  expect(
    ids([
      ["a", "both"],
      ["b", "both"],
    ]),
  ).toEqual(["both", "a", "b"]);
});

test("Of two that count the same the one of the first ranking comes first", () => {
  expect(ids([["word"], ["meaning"]])).toEqual(["word", "meaning"]);
  expect(ids([[], ["meaning"]])).toEqual(["meaning"]);
});

test("Ranks fall along the fused ranking, by the places alone", () => {
  const fused = fuse([
    ["a", "b", "c"],
    ["c", "d"],
  ]);
  expect(fused.map(({ rank }) => rank)).toEqual([1 / 63 + 1 / 61, 1 / 61, 1 / 62, 1 / 62]);
});
