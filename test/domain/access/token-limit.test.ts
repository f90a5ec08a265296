import fc from "fast-check";
import { expect, test } from "vitest";
import { drawRequests, requestCost } from "../../../domain/access/limit-draw.ts";
import { chargeUsed, judgeRate, MOST_OWED_MINUTES, rateCost } from "../../../domain/access/rate-limit.ts";
import { reservedUnits, tokenRate, tokensId, tokenUnits } from "../../../domain/access/token-limit.ts";

const limits = fc.integer({ min: 1, max: 100_000_000 }).map((tokensPerMinute) => {
  return { tokensPerMinute, scope: "Replica" as const };
});

test("b128: a limit of tokens is kept to a thousandth, here and in the database's cell, and never exceeded", () => {
  fc.assert(
    fc.property(limits, (limit) => {
      const rate = tokenRate(limit);
      for (const perMinute of [60e9 / rateCost(rate), 60e6 / requestCost(rate)]) {
        expect(perMinute * rate.unit).toBeLessThanOrEqual(limit.tokensPerMinute * (1 + 1e-9));
        expect(perMinute * rate.unit).toBeGreaterThan(limit.tokensPerMinute * 0.999);
      }
      expect(rate.burst * rate.unit).toBeLessThanOrEqual(limit.tokensPerMinute);
    }),
  );
});

test("b128: calls that use what they reserved get no more, in any time, than the limit and a minute's worth", () => {
  const calls = fc.array(fc.record({ after: fc.nat(30_000), tokens: fc.nat(5_000) }), { maxLength: 60 });
  fc.assert(
    fc.property(calls, (asked) => {
      const rate = tokenRate({ tokensPerMinute: 6_000, scope: "Replica" });
      let [now, paidAt] = [0, 0];
      const admitted = asked.map(({ after, tokens }) => {
        now += after * 1e6;
        const verdict = judgeRate(rate, paidAt, now, reservedUnits(rate, tokens));
        paidAt = verdict.paidAt;
        return { now, tokens: verdict.admitted ? tokens : 0 };
      });
      for (const [i, from] of admitted.entries()) {
        let sum = 0;
        for (const to of admitted.slice(i)) {
          sum += to.tokens;
          expect(sum).toBeLessThanOrEqual(6_000 + (6_000 * (to.now - from.now)) / 60e9);
        }
      }
    }),
  );
});

test("b128: a refused call is admitted when its time to try again has passed, and not before", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 6_000 }), fc.integer({ min: 0, max: 60_000 }), (amount, owedMs) => {
      const rate = tokenRate({ tokensPerMinute: 6_000, scope: "Replica" });
      const now = 1e12;
      const refused = judgeRate(rate, now + owedMs * 1e6, now, amount);
      if (refused.admitted) return;
      expect(judgeRate(rate, refused.paidAt, now + refused.retryAfter, amount).admitted).toBe(true);
      expect(judgeRate(rate, refused.paidAt, now + refused.retryAfter - 1, amount).admitted).toBe(false);
    }),
  );
});

test("b128: a call that may use more than the limit has at once passes where nothing is owed", () => {
  const rate = tokenRate({ tokensPerMinute: 1_000, scope: "Replica" });
  const amount = reservedUnits(rate, 50_000);
  expect(judgeRate(rate, 0, 1e12, amount)).toMatchObject({ admitted: true, remaining: 0 });
  expect(judgeRate(rate, 1e12 + 1e9, 1e12, amount)).toMatchObject({ admitted: false, retryAfter: 1e9 });
});

test("b128: what was used beyond the reservation is owed, and no more than an hour of it, whatever is reported", () => {
  const rate = tokenRate({ tokensPerMinute: 60_000, scope: "Replica" });
  const now = 1e12;
  expect(chargeUsed(rate, now, now, tokenUnits(rate, 120_000))).toBe(now + 120e9);
  const most = now + (1 + MOST_OWED_MINUTES) * 60e9;
  expect(chargeUsed(rate, now, now, 1e9)).toBe(most);
  expect(chargeUsed(rate, most, now, 1e9)).toBe(most);
  const owed = drawRequests(rate, 0, 1e12, 1e9, true);
  expect(owed.granted).toBe(60_000 * (1 + MOST_OWED_MINUTES));
  // Asking does not take any of it away.
  expect(drawRequests(rate, owed.paidAt, 1e12 + 5, 1)).toEqual({ granted: 0, paidAt: owed.paidAt, now: 1e12 + 5 });
});

test("b128: no owner of requests is counted where tokens are", () => {
  expect(["key_1", "gw_1/tokens:key_1"].map(tokensId)).toEqual(["tokens:key_1", "tokens:gw_1/tokens:key_1"]);
});
