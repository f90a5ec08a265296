import { expect, it } from "vitest";
import { ReadingTime } from "../../../../server/gateway/tokens/reading-time.ts";

it("b280: a team has its time at once, and again as time goes by, whatever others take", () => {
  const time = new ReadingTime({ most: 100, perSecond: 50 });
  time.take("a", 60, 0);
  expect(time.hasAny("a", 0)).toBe(true);
  time.take("a", 90, 0);
  expect([time.hasAny("a", 1_000), time.hasAny("a", 1_001), time.hasAny("b", 0)]).toEqual([false, true, true]);
  time.take("a", 100, 1e6);
  expect([time.hasAny("a", 1e6), time.hasAny("a", 1e6 + 1)]).toEqual([false, true]);
});
