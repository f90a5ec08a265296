import { expect, test } from "vitest";
import { reservedUnits, tokenRate } from "../../../domain/access/token-limit.ts";
import { UNUSED, type UsedTokens } from "../../../domain/usage/token-reservation.ts";
import { chargeRates } from "../../../server/auth/charge-rate.ts";
import { settleTokens } from "../../../server/auth/settle-tokens.ts";
import { KeyIndex } from "../../../server/key-index/key-index.ts";
import { indexedKey, keyRecord } from "../harness.ts";

const tokenLimit = { tokensPerMinute: 60_000, scope: "Replica" } as const;

/** What a key has left of a minute's tokens after a call that was expected to use so many. */
function leftAfter(expected: number, used: Partial<UsedTokens>): number | undefined {
  const index = new KeyIndex();
  const record = keyRecord({ keyId: "key_a", tokenLimit });
  index.applyKey("key_a", [indexedKey("a", record)]);
  const key = index.findKey("a") ?? record;
  const deps = { index, clock: { monotonic: () => 1_000_000 }, installationLimits: null };
  const charged = chargeRates(deps, key, undefined, expected);
  if (charged instanceof Promise) throw new Error("it is counted here");
  settleTokens(deps, charged, { ...UNUSED, ...used });
  const limit = tokenRate(tokenLimit);
  const [verdict] = index.judgeRates(
    charged.map((rate) => ({ ...rate, amount: 1 })),
    1_000_000 * 1e6,
  );
  expect(reservedUnits(limit, expected)).toBe(Math.min(expected, 60_000));
  return verdict && (verdict.admitted ? verdict.remaining + 1 : -verdict.retryAfter / 1e9);
}

test("b128: what is reported counts, also beyond what was reserved", () => {
  expect(leftAfter(10_000, { reported: 4_000 })).toBe(56_000);
  expect(leftAfter(3_000_000, { reported: 120_000 }), "seconds that are owed").toBeLessThan(-60);
});

test("b128: what is only estimated is never more than was reserved: no call that says much holds others up", () => {
  expect(leftAfter(10_000, { estimated: 10_000 })).toBe(50_000);
  for (const estimated of [3_000_000, 1.8e19]) {
    expect(leftAfter(estimated, { estimated })).toBeGreaterThan(-0.1);
  }
});

test("b209: each upstream that was given up has what was reserved, beside what another one's answer reports", () => {
  expect(leftAfter(10_000, { givenUp: 1 })).toBe(50_000);
  expect(leftAfter(10_000, { reported: 4_000, givenUp: 2 })).toBe(36_000);
});
