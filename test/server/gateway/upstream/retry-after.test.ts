import { expect, test } from "vitest";
import { retryAfterMs } from "../../../../server/gateway/upstream/retry-after.ts";

const NOW = Date.parse("2026-11-27T14:40:00Z");
/** As a server writes it whose clock is an hour late. */
const LATE = "Fri, 27 Nov 2026 13:40:00 GMT";

test.each([
  ["120", undefined, 120_000],
  ["0", undefined, 0],
  ["1.5", undefined, 1_500],
  ["Fri, 27 Nov 2026 14:42:00 GMT", undefined, 120_000],
  ["Friday, 27-Nov-26 14:42:00 GMT", undefined, 120_000],
  ["Fri Nov 27 14:42:00 2026", undefined, 120_000],
  ["Tue Dec  1 14:40:00 2026", undefined, 4 * 86_400_000],
  ["Fri, 27 Nov 2026 14:39:00 GMT", undefined, 0],
  ["Fri, 27 Nov 2026 13:42:00 GMT", LATE, 120_000],
  ["Fri, 27 Nov 2026 14:42:00 GMT", "yesterday", 120_000],
  ["60", LATE, 60_000],
])("Retry-After: %s with Date: %s asks to wait %s ms", (value, date, ms) => {
  expect(retryAfterMs({ "retry-after": value, ...(date !== undefined && { date }) }, NOW)).toBe(ms);
});

test.each([
  [undefined],
  [""],
  ["-1"],
  ["soon"],
  ["0x10"],
  ["1e9"],
  ["Infinity"],
  ["60, 120"],
  ["2026-11-27T14:42:00Z"],
  ["Fri, 27 Nov 2026 14:42:00 -0500"],
  ["Fri, 99 Nov 2026 14:42:00 GMT"],
  ["Fri, 27 Nov 2026 25:42:00 GMT"],
  [["60", "120"]],
])("Retry-After: %j asks for nothing", (value) => {
  // What the dispatcher makes of several lines is a list, whatever its type says.
  const headers = { "retry-after": value } as Parameters<typeof retryAfterMs>[0];
  expect(retryAfterMs(headers, NOW)).toBeUndefined();
});
