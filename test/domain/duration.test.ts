import { expect, test } from "vitest";
import { durationText, parseDuration } from "../../domain/duration.ts";
import { SCHEMAS } from "../../domain/kinds/generated/schemas.ts";

test.each([
  ["720h", 720 * 3_600_000],
  ["1h30m", 5_400_000],
  ["1.5h", 5_400_000],
  ["90s500ms", 90_500],
  ["0s", 0],
  ["2m", 120_000],
])("%s is %d ms", (text, milliseconds) => expect(parseDuration(text)).toBe(milliseconds));

test.each([
  ["1h0.5ms", 3_600_001],
  ["0.29h", 1_044_000],
])("b454: %s is %d ms, which are whole as the store keeps them", (text, milliseconds) => {
  expect(parseDuration(text)).toBe(milliseconds);
});

test.each([
  [720 * 3_600_000, "720h"],
  [5_400_000, "1h30m"],
  [90_500, "1m30s500ms"],
  [0, "0s"],
])("%d ms are written as %s, which is read back as the same", (milliseconds, text) => {
  expect(durationText(milliseconds)).toBe(text);
  expect(parseDuration(text)).toBe(milliseconds);
});

test.each(["", "1", "90d", "1h ", "-1h", "h", "1H", "1.h", "1µs", "9999999h"])("%j is no duration", (text) => {
  expect(() => parseDuration(text)).toThrow(/write one such as 720h/);
});

test("what the schema lets through is what is parsed", () => {
  const pattern = new RegExp(String(SCHEMAS.PlatformKey.properties?.spec?.properties?.expiresAfter?.pattern));
  for (const text of ["720h", "1h30m", "1.5h", "90d", "", "1", "9999999h", "1.2345s"]) {
    const parses = (() => {
      try {
        return parseDuration(text) >= 0;
      } catch {
        return false;
      }
    })();
    expect([text, parses]).toEqual([text, pattern.test(text)]);
  }
});
