import { expect, test } from "vitest";
import {
  likenessOfVersions,
  numbersIn,
  plainVersion,
  soughtVersions,
  versionsIn,
} from "../../../../../memory/store/search/words/versions.ts";

test("a version is found with a v and without, and is none where letters stand before it", () => {
  expect(versionsIn("V3.4.0, heron-2.41 and 1.2 of lib9.9, v7 in 2026")).toEqual(["3.4.0", "2.41", "1.2"]);
  expect(soughtVersions("since v3.4.0 or so")).toEqual({ versions: ["3.4.0"], rest: "since   or so" });
  expect(plainVersion("3.0.0")).toBe("3");
  expect(plainVersion("3.10")).toBe("3.10");
});

test("b297: a number is looked for in words where letters follow it, and is found in other marks", () => {
  const query = "at 9.45am, 1.5TB";
  expect(soughtVersions(query)).toEqual({ versions: [], rest: query });
  expect(soughtVersions("v6.2.0rc1")).toEqual({ versions: ["6.2"], rest: " .0rc1" });
  expect(versionsIn("5.6GHz")).toEqual(["5.6"]);
  expect(numbersIn("2026-11-26, 10:30, 41,5 t, v3.4.0 and 192.168.1.17:8080")).toEqual([
    ...["3.4.0", "192.168.1.17"],
    ...["2026.11.26", "10.30", "41.5"],
  ]);
  expect(numbersIn("from 3, 4 and a-5, 1-2x or 7 - 8")).toEqual([]);
  expect(likenessOfVersions("26.11.2026", "2026.11.26")).toBe(1);
  expect(likenessOfVersions("3.4.5", "5.4.3")).toBe(0);
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
    expect(numbersIn(text.replaceAll(".", "-")).length).toBeLessThanOrEqual(1 + text.length / 10);
  }
}, 1_000);
