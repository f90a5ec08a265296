import { expect, test } from "vitest";
import { ageText } from "../../../cli/output/age.ts";

const NOW = Date.parse("2026-11-21T12:00:00Z");

/** What kubectl v1.36 writes of the same ages. */
test.each([
  [0, "0s"],
  [119, "119s"],
  [120, "2m"],
  [200, "3m20s"],
  [600, "10m"],
  [3 * 3600 - 1, "179m"],
  [3 * 3600, "3h"],
  [5 * 3600 + 60, "5h1m"],
  [47 * 3600, "47h"],
  [48 * 3600, "2d"],
  [52 * 3600, "2d4h"],
  [100 * 86400, "100d"],
  [3 * 365 * 86400 + 86400, "3y1d"],
  [9 * 365 * 86400, "9y"],
])("an age of %d seconds is written as kubectl writes it", (seconds, text) => {
  expect(ageText(new Date(NOW - seconds * 1000).toISOString(), NOW)).toBe(text);
});

test("an age by a clock that is ahead is none", () => {
  expect(ageText("2026-11-21T12:00:05Z", NOW)).toBe("0s");
});
