import fc from "fast-check";
import { expect, test } from "vitest";
import { type BudgetPeriod, periodAt } from "../../../domain/budget/period.ts";
import { examples } from "../../env/nightly.ts";

const at = Date.parse;
const rfc = (time: number) => new Date(time).toISOString().replace(".000Z", "Z");

test.each<[BudgetPeriod, string, string, name: string, begins: string, ends: string]>([
  ["Day", "UTC", "2026-11-25T03:00:00Z", "2026-11-25", "2026-11-25T00:00:00Z", "2026-11-26T00:00:00Z"],
  ["Week", "UTC", "2026-11-25T03:00:00Z", "2026-11-23", "2026-11-23T00:00:00Z", "2026-11-30T00:00:00Z"],
  ["Week", "UTC", "2026-11-29T23:59:59Z", "2026-11-23", "2026-11-23T00:00:00Z", "2026-11-30T00:00:00Z"],
  ["Month", "UTC", "2026-12-31T23:59:59Z", "2026-12-01", "2026-12-01T00:00:00Z", "2027-01-01T00:00:00Z"],
  // Already the next month there.
  ["Month", "Europe/Berlin", "2026-10-31T23:30:00Z", "2026-11-01", "2026-10-31T23:00:00Z", "2026-11-30T23:00:00Z"],
  ["Day", "America/New_York", "2026-11-25T03:00:00Z", "2026-11-24", "2026-11-24T05:00:00Z", "2026-11-25T05:00:00Z"],
  // The days on which clocks are put forward and back have 23 and 25 hours.
  ["Day", "Europe/Berlin", "2026-03-29T12:00:00Z", "2026-03-29", "2026-03-28T23:00:00Z", "2026-03-29T22:00:00Z"],
  ["Day", "Europe/Berlin", "2026-10-25T12:00:00Z", "2026-10-25", "2026-10-24T22:00:00Z", "2026-10-25T23:00:00Z"],
  // There, this day begins at one o'clock: it has no midnight.
  ["Day", "Africa/Cairo", "2026-04-24T12:00:00Z", "2026-04-24", "2026-04-23T22:00:00Z", "2026-04-24T21:00:00Z"],
  ["Day", "Pacific/Kiritimati", "2026-11-24T12:00:00Z", "2026-11-25", "2026-11-24T10:00:00Z", "2026-11-25T10:00:00Z"],
  ["Day", "Nowhere/None", "2026-11-25T03:00:00Z", "2026-11-25", "2026-11-25T00:00:00Z", "2026-11-26T00:00:00Z"],
])("b129: a %s in %s at %s begins and ends by the calendar there", (period, zone, time, name, begins, ends) => {
  const { beginsAt, endsAt, ...found } = periodAt(period, zone, at(time));
  expect([found.name, rfc(beginsAt), rfc(endsAt)]).toEqual([name, begins, ends]);
});

test("b129: what lasts for ever has no end", () => {
  expect(periodAt("Total", "UTC", at("2026-11-25T03:00:00Z"))).toEqual({
    ...{ name: "total", beginsAt: Number.NEGATIVE_INFINITY, endsAt: Number.POSITIVE_INFINITY },
  });
});

test("b129: each moment is in one period, and the next one begins where it ends", () => {
  const zones = ["UTC", "Europe/Berlin", "America/New_York", "Asia/Beirut", "Australia/Lord_Howe", "Africa/Cairo"];
  fc.assert(
    fc.property(
      fc.constantFrom<BudgetPeriod>("Day", "Week", "Month"),
      fc.constantFrom(...zones),
      fc.integer({ min: at("2020-01-01"), max: at("2040-01-01") }),
      (period, zone, time) => {
        const one = periodAt(period, zone, time);
        expect(one.beginsAt <= time && time < one.endsAt).toBe(true);
        expect(periodAt(period, zone, one.endsAt - 1)).toEqual(one);
        expect(periodAt(period, zone, one.beginsAt)).toEqual(one);
        expect(periodAt(period, zone, one.endsAt).beginsAt).toBe(one.endsAt);
      },
    ),
    { numRuns: examples(100) },
  );
});
