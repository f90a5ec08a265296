import { describe, expect, test } from "vitest";
import { EXPIRY_NOTICE_MS, expiryNotice } from "../../../../domain/key/conditions/expiry-notice.ts";
import type { StoredVersion } from "../../../../domain/key/stored/stored-key.ts";
import { DAY, HOUR, NOW } from "../../rule-table.ts";
import { KEY, version } from "../situations.ts";

/** The five versions that are loaded of a key that is rotated every so often. */
function lastFive(everyMs: number): StoredVersion[] {
  return [5, 4, 3, 2, 1].map((back) =>
    version(100 - back, { mintedAt: NOW - back * everyMs, state: back === 1 ? "active" : "retired" }),
  );
}

describe("the notice before a key's end", () => {
  test.each([
    { of: "a year", age: 365 * DAY, end: 4 * DAY, notice: true },
    { of: "a year, and an end in a month", age: 365 * DAY, end: 30 * DAY, notice: true },
    { of: "a day, and a whole life of a week", age: DAY, end: 6 * DAY, notice: false },
    { of: "a day, and a whole life of more", age: DAY, end: 6 * DAY + HOUR, notice: true },
  ])("goes by the whole life of a key of $of, however often it was rotated", ({ age, end, notice }) => {
    const declared = { expiresAt: NOW + end, rotationInterval: 12 * HOUR };
    for (const everyMs of [HOUR, 4 * HOUR]) {
      const key = { ...KEY, createdAt: NOW - age, lastNumber: 99, versions: lastFive(everyMs) };
      const expected = notice ? { expiry: NOW + end, from: NOW + end - EXPIRY_NOTICE_MS } : undefined;
      expect(expiryNotice(declared, key, NOW)).toEqual(expected);
    }
  });
});
