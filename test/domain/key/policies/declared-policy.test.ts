import { expect, test } from "vitest";
import { declarePolicy } from "../../../../domain/key/policies/declared-policy.ts";

const SPEC = { teamSelector: {}, gracePeriod: "168h" };
const NONE = { default: null, max: null };
const HOUR = 3_600_000;

test("a policy asks nothing of what it does not name", () => {
  expect(declarePolicy("one", SPEC)).toEqual({
    ...{ name: "one", gracePeriod: 168 * HOUR, expiryRequired: false, expiry: NONE, maxInterval: null, maxKeys: null },
    ...{ allowedScopes: null, allowedPresets: null, allowedModels: null, allowedGateways: null, allowedCIDRs: null },
    ...{ requestsPerMinute: NONE, concurrent: NONE, tokensPerMinute: NONE, budgets: [] },
  });
});

test("a policy's texts are read: durations as milliseconds, and a cost as it is stored", () => {
  const budgets = [{ cost: "1.5", currency: "USD", period: "Month" as const, timeZone: "UTC" }];
  const rateLimit = { tokensPerMinute: { default: 5 } };
  expect(declarePolicy("one", { ...SPEC, expiry: { max: "90m" }, rateLimit, budgets })).toMatchObject({
    expiry: { default: null, max: 1.5 * HOUR },
    tokensPerMinute: { default: 5, max: null },
    budgets: [{ cost: "1.50", currency: "USD", period: "Month", timeZone: "UTC", onExhausted: "Refuse" }],
  });
});
