import { describe, expect, it, test } from "vitest";
import { isInUse, type LiveTraffic, liveTrafficText } from "../../../../domain/key/stored/live-traffic.ts";

const NOW = Date.parse("2026-11-26T12:00:00Z");
const at = (time: string) => Date.parse(`2026-11-${time}Z`);
const callers = ["192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24", "10.0.0.0/24", "10.0.1.0/24"].map((network) => ({
  network,
  lastSeenOn: "2026-11-26",
}));
const lastDay = (requests: number) => ({ requests, since: at("25T14:05:00") });

type Row = { given: Omit<LiveTraffic, "callers"> & Partial<LiveTraffic>; text: string; inUse: boolean };

const ROWS: readonly Row[] = [
  { given: { lastUsedAt: null }, text: "never used", inUse: false },
  { given: { lastUsedAt: null, lastDay: lastDay(0) }, text: "never used", inUse: false },
  {
    given: { lastUsedAt: undefined },
    text: "when it was last used is known to a running server alone",
    inUse: false,
  },
  {
    given: { lastUsedAt: NOW - 59_999 },
    text: "last used less than a minute ago, at 2026-11-26T11:59:00Z",
    inUse: true,
  },
  { given: { lastUsedAt: at("26T10:59:59") }, text: "last used 1 hour ago, at 2026-11-26T10:59:59Z", inUse: true },
  { given: { lastUsedAt: at("23T12:00:00") }, text: "last used 3 days ago, at 2026-11-23T12:00:00Z", inUse: false },
  {
    given: { lastUsedAt: at("26T11:57:00"), callers: callers.slice(0, 2) },
    text: "last used 3 minutes ago, at 2026-11-26T11:57:00Z, of late from 192.0.2.0/24, 198.51.100.0/24",
    inUse: true,
  },
  {
    given: { lastUsedAt: at("26T11:57:00"), callers, lastDay: lastDay(12_034) },
    text: "last used 3 minutes ago, at 2026-11-26T11:57:00Z, of late from 192.0.2.0/24, 198.51.100.0/24, 203.0.113.0/24 and 2 more; 12,034 requests since 2026-11-25T14:05:00Z",
    inUse: true,
  },
  {
    given: { lastUsedAt: null, lastDay: lastDay(1) },
    text: "used just now; 1 request since 2026-11-25T14:05:00Z",
    inUse: true,
  },
];

describe("What is known of the calls that end with a key", () => {
  it.each(ROWS)("is said as: $text", ({ given, text, inUse }) => {
    const traffic = { callers: [], ...given };
    expect(liveTrafficText(traffic, NOW)).toBe(text);
    expect(isInUse(traffic, NOW)).toBe(inUse);
  });

  test("has a key that is used by a clock ahead of this one in use", () => {
    const traffic = { lastUsedAt: NOW + 5_000, callers: [] };
    expect([liveTrafficText(traffic, NOW), isInUse(traffic, NOW)]).toEqual([
      "last used less than a minute ago, at 2026-11-26T12:00:05Z",
      true,
    ]);
  });
});
