import { expect, test } from "vitest";
import {
  likenessOfVersions,
  plainVersion,
  versionsIn,
  withoutVersions,
} from "../../../../../store/memory/search/words/versions.ts";

test("a version is found with a v and without, and is none where letters stand before it", () => {
  expect(versionsIn("V3.4.0, heron-2.41 and 1.2 of lib9.9, v7 in 2026")).toEqual(["3.4.0", "2.41", "1.2"]);
  expect(withoutVersions("since v3.4.0 or so").split(/ +/)).toEqual(["since", "or", "so"]);
  expect(plainVersion("3.0.0")).toBe("3");
  expect(plainVersion("3.10")).toBe("3.10");
});

test("a version is the same with noughts behind it, and near to one that goes on", () => {
  expect(likenessOfVersions("3.4", "3.4.0")).toBe(1);
  expect(likenessOfVersions("3.4.0", "3.4")).toBe(1);
  for (const [wanted, present] of [
    ["3.4", "3.4.1"],
    ["3.4.1", "3.4"],
    ["3.0", "3.0.2"],
  ] as const)
    expect.soft(likenessOfVersions(wanted, present), `${wanted} ${present}`).toBeGreaterThan(0.5);
  expect(likenessOfVersions("3.4", "3.4.1")).toBeLessThan(1);
});

test.each([
  ["3.4", "13.4"],
  ["3.4", "3.41"],
  ["3.4", "3.40"],
  ["3.4.0", "3.4.1"],
  ["3.0", "3.4"],
  ["3.4", "3"],
  ["3.4", "34"],
])("%s is not %s", (wanted, present) => {
  expect(likenessOfVersions(wanted, present)).toBe(0);
});

test("a text of a hundred thousand digits or dots is gone through once", () => {
  for (const text of ["1".repeat(100_000), `1${".1".repeat(50_000)}`, "v1.".repeat(30_000)]) {
    expect(versionsIn(text).length).toBeLessThanOrEqual(1);
  }
}, 1_000);
