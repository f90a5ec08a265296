import { expect, test } from "vitest";
import { writtenFirst } from "../../../../../memory/store/search/ranking/written-first.ts";

const written = (id: string, closeness = 1, match = "nearest") => ({ id, closeness, match, isExtracted: false });
const extracted = (id: string, closeness = 1, match = "nearest") => ({ id, closeness, match, isExtracted: true });

test.each([
  ["what is extracted comes behind what answers as well", [extracted("a"), written("b"), written("c")], "bca"],
  ["it keeps its place before what answers less", [extracted("a"), written("b", 0.8)], "ab"],
  ["and before what has not the words as they stand", [extracted("a", 1, "words"), written("b")], "ab"],
  ["what is written keeps its place", [written("a", 0.1), extracted("b"), written("c", 0.1)], "abc"],
  ["where all are extracted, all stay", [extracted("a", 0.5), extracted("b")], "ab"],
])("%s", (_what, placed, expected) => {
  expect(
    writtenFirst(placed)
      .map(({ id }) => id)
      .join(""),
  ).toBe(expected);
});
