import { expect, test } from "vitest";
import { parseMoment } from "../../../cli/command/since.ts";

const NOW = Date.parse("2026-11-21T08:00:00Z");

test.each([
  ["24h", "2026-11-20T08:00:00Z"],
  ["30d", "2026-10-22T08:00:00Z"],
  ["2026-11-21", "2026-11-21T00:00:00Z"],
  ["2026-11-21T08:00Z", "2026-11-21T08:00:00Z"],
  ["2026-11-21T08:00:00.5+02:00", "2026-11-21T06:00:00.5Z"],
])("--since %s is the same moment on every machine", (text, moment) => {
  expect(parseMoment("--since", text, NOW)).toBe(Date.parse(moment));
});

test.each([
  "2026-11-21T08:00",
  "2026-11-21 08:00",
  "2026-02-30",
  "2026-13-01",
  "2026-",
  "2026-11-21T25:00Z",
  "yesterday",
])("--since %s is no moment", (text) => {
  expect(() => parseMoment("--since", text, NOW)).toThrow("write a duration such as 24h or 30d, or a time such as");
});
