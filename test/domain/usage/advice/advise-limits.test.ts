import { expect, test } from "vitest";
import { adviseLimits } from "../../../../domain/usage/advice/advise-limits.ts";
import type { KeyUse, Peak } from "../../../../domain/usage/advice/key-use.ts";
import { answers, useOf } from "./uses.ts";

const peak = (fiveMinutes: number, recentHour = fiveMinutes, hour = recentHour): Peak => ({
  fiveMinutes,
  recentHour,
  hour,
});
const advised = (use: Partial<KeyUse>) => adviseLimits(useOf(use, { "memory:read": 1 }));

test("limits come from the busiest five minutes, with a margin that is said", () => {
  const { change, why } = advised({ peakRequests: peak(100), peakTokens: peak(50_000) });
  expect(change).toEqual({ rateLimit: { requestsPerMinute: 40, burst: 200, tokensPerMinute: 50_000 } });
  expect(why).toContain("The busiest five minutes of the last eight days had 100 requests.");
  expect(why).toContain("The rate is 2 times the average of these five minutes");
  expect(why).toContain("the burst lets 2 times all of them through at once");
  expect(why).toContain("5 times their average");
});

test("an hour that was busier before five minutes were known is taken to be as uneven, and that is said", () => {
  const { change, why } = advised({ peakRequests: peak(100, 200, 600) });
  expect(change).toEqual({ rateLimit: { requestsPerMinute: 120, burst: 600 } });
  expect(why).toContain(
    "An hour before that had 600, where the busiest of these days had 200: 300 within five minutes",
  );
  expect(advised({ peakRequests: peak(0, 0, 50) }).change).toEqual({
    rateLimit: { requestsPerMinute: 20, burst: 100 },
  });
});

test("a limit that is as narrow stays, and what else is declared of limits", () => {
  const known = { requestsPerMinute: 30, burst: 30, scope: "Installation", concurrent: 4 } as const;
  expect(advised({ spec: { rateLimit: known }, peakRequests: peak(100) }).change).toEqual({});
  const wide = { ...known, requestsPerMinute: 1_000 };
  expect(advised({ spec: { rateLimit: wide }, peakRequests: peak(100) }).change).toEqual({
    // It has been enough, and advice is never wider than what is declared.
    rateLimit: { ...known, requestsPerMinute: 40, burst: 30 },
  });
});

test("no limit of tokens is advised where not all tokens are known", () => {
  const { change, why } = advised({ peakRequests: peak(5), peakTokens: peak(100), answersWithoutTokens: 2 });
  expect(change).toEqual({ rateLimit: { requestsPerMinute: 2, burst: 10 } });
  expect(why).toContain("of 2 answers not all tokens are known");
});

test("a limit of tokens is advised where nine calls of models in ten have a counted answer, and not where fewer have", () => {
  const of = (calls: number) => {
    const use = { answers: [answers({ calls })], peakTokens: peak(100) };
    return adviseLimits(useOf(use, { "gateway:generate": 600, "gateway:embed": 400 }));
  };
  expect(of(900).change).toMatchObject({ rateLimit: { tokensPerMinute: 100 } });
  expect(of(899).change.rateLimit).not.toHaveProperty("tokensPerMinute");
  expect(of(899).why).toContain("of 1,000 calls 899 answers were counted");
});

test("what is beyond the bounds of a PlatformKey is not advised", () => {
  expect(advised({ peakRequests: peak(2_000_000), peakTokens: peak(200_000_000) }).change).toEqual({});
});
