import { expect, test } from "vitest";
import { requestsOf, requestsSince, sumOf, sumsOf } from "../../../../server/console/keys/page/request-bars.ts";
import { scopedRequests } from "../../../../server/console/keys/page/requests-chart.ts";
import { USAGE_RANGES } from "../../../../server/console/usage/usage-ranges.ts";

const NOW = Date.UTC(2026, 10, 14, 12, 7);
const MINUTE = 60_000;
const at = (slot: number, scope: string, count: number) => ({ keyId: "key_a", slot, scope, count });

test("Requests of the last hour are in bars of five minutes, those of the day in bars of an hour, the present one last", () => {
  const { hour, day } = requestsOf(
    [
      at(Date.UTC(2026, 10, 14, 12, 5), "memory:read", 3),
      at(Date.UTC(2026, 10, 14, 12, 5), "memory:write", 1),
      at(Date.UTC(2026, 10, 14, 11, 10), "memory:read", 5),
      at(Date.UTC(2026, 10, 14, 11, 5), "memory:read", 7),
      at(requestsSince(NOW), "memory:read", 11),
    ],
    NOW,
  );
  expect([hour.length, day.length]).toEqual([12, 24]);
  expect(hour.at(-1)?.counts).toEqual(
    new Map([
      ["memory:read", 3],
      ["memory:write", 1],
    ]),
  );
  expect([hour[0]?.from, hour[0]?.sum]).toEqual([Date.UTC(2026, 10, 14, 11, 10), 5]);
  expect(sumOf(hour)).toBe(9);
  expect(day.slice(-2).map(({ sum }) => sum)).toEqual([12, 4]);
  expect(day[0]?.sum).toBe(11);
  expect(sumsOf(day).get("memory:read")).toBe(26);
});

const [HOUR, DAY, MONTH] = USAGE_RANGES;

test("A chart of requests has a bar for each scope, as high as what it counts, and says the numbers in words", () => {
  const slot = NOW - 2 * MINUTE;
  const requests = requestsOf([at(slot, "memory:read", 30), at(slot, "memory:write", 10)], NOW);
  for (const range of [HOUR, DAY]) {
    const { chart, table } = scopedRequests(requests, range) ?? expect.fail("there is no chart");
    const heights = [
      ...String(chart).matchAll(/<rect class="series-\d" x="[^"]+" y="[^"]+" width="[^"]+" height="([^"]+)"/g),
    ];
    expect(heights.map(([, height]) => Number(height))).toEqual([105, 35]);
    expect(String(chart)).toContain(
      `Requests, ${range.title.toLowerCase()}, ${range.every}: 30 by memory:read, 10 by memory:write`,
    );
    expect(String(table)).toContain('data-label="memory:write">10<');
    expect(`${chart}${table}`).not.toContain("gateway:");
  }
});

test("There is no chart by scope without requests, and none of 30 days, of which scopes are not counted", () => {
  const requests = requestsOf([at(NOW - 2 * MINUTE, "memory:read", 30)], NOW);
  expect(scopedRequests(requestsOf([], NOW), DAY)).toBeUndefined();
  expect(scopedRequests(requests, MONTH)).toBeUndefined();
});
