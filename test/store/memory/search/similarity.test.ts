import { expect, test } from "vitest";
import { comparer } from "../../../../store/memory/search/similarity.ts";

const like = (wanted: string, present: string) => comparer({ kind: "word", text: wanted })(present);

test.each([
  ["rotation", "rotatoin"],
  ["rotation", "rotatin"],
  ["rotation", "rotattion"],
  ["rotation", "rotazion"],
  ["rotation", "otation"],
  ["schluessel", "schlussel"],
])("%s is like %s, which has a slip in it", (wanted, present) => {
  expect(like(wanted, present)).toBeGreaterThanOrEqual(0.65);
});

test.each([
  ["kettle", "bottle"],
  ["port", "part"],
  ["rotation", "notations"],
])("%s is another word than %s", (wanted, present) => {
  expect(like(wanted, present)).toBeLessThan(1);
});

test("b83: words of a million letters are compared in a number of steps that grows with them", () => {
  const a = "a".repeat(500_000);
  expect(like(`b${a}c${a}d`, `c${a}d${a}b`)).toBe(0);
  expect(like(`b${a}c${a}d`, `b${a}d${a}d`)).toBeGreaterThan(0.5);
});
