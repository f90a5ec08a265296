import { expect, test } from "vitest";
import { declareKey } from "../../../../domain/key/fields/declare-key.ts";
import { declarePolicy } from "../../../../domain/key/policies/declared-policy.ts";
import { judgeKey, violationText } from "../../../../domain/key/policies/judge-key.ts";
import { withPolicyDefaults } from "../../../../domain/key/policies/policy-defaults.ts";
import { checkedSpec } from "./checked-spec.ts";

const NOW = Date.parse("2026-11-01T00:00:00Z");
const READER = { scopes: ["memory:read"] };
const CALLER = { scopes: ["gateway:generate"] };

/** The rules that a new key breaks, by their names. */
function broken(key: object, rules: object, keysBefore: number | null = null): string[] {
  const policies = [declarePolicy("one", checkedSpec("PlatformKeyPolicy", { teamSelector: {}, ...rules }))];
  const declared = withPolicyDefaults(declareKey("ns", "key", checkedSpec("PlatformKey", key)), policies);
  return judgeKey(declared, policies, { bornAt: NOW, now: NOW, keysBefore }).map(({ rule }) => rule);
}

test.each([
  ["expiry.required", READER, { ...READER, expiresAfter: "9000h" }, { expiry: { required: true } }],
  ["expiry.max", READER, { ...READER, expiresAfter: "24h" }, { expiry: { max: "24h" } }],
  ["expiry.max", { ...READER, expiresAfter: "24h1s" }, { ...READER, expiresAfter: "24h" }, { expiry: { max: "24h" } }],
  [
    "expiry.max",
    { ...READER, expiresAt: "2026-11-02T00:00:01Z" },
    { ...READER, expiresAt: "2026-11-02T00:00:00Z" },
    { expiry: { max: "24h" } },
  ],
  ["expiry.max", { ...READER, expiresAfter: "48h" }, READER, { expiry: { default: "12h", max: "24h" } }],
  ["rotation.maxInterval", READER, { ...READER, rotation: { interval: "48h" } }, { rotation: { maxInterval: "48h" } }],
  ["rotation.maxInterval", READER, { ...READER, expiresAfter: "48h" }, { rotation: { maxInterval: "48h" } }],
  ["allowedScopes", { scopes: ["memory:write"] }, READER, { allowedScopes: ["memory:read"] }],
  ["allowedPresets", { preset: "MCPReadWrite" }, READER, { allowedPresets: ["MCPReadOnly"] }],
  ["allowedModels", CALLER, READER, { allowedModels: ["small"] }],
  [
    "allowedModels",
    { ...CALLER, allowedModels: ["small", "large"] },
    { ...CALLER, allowedModels: ["small"] },
    { allowedModels: ["small"] },
  ],
  [
    "allowedGateways",
    { ...CALLER, gatewayRef: { name: "other" } },
    { ...CALLER, gatewayRef: { name: "main" } },
    { allowedGateways: [{ namespace: "ns", name: "main" }] },
  ],
  ["allowedGateways", CALLER, READER, { allowedGateways: [{ namespace: "ns", name: "main" }] }],
  [
    "allowedCIDRs",
    { ...READER, allowedCIDRs: ["10.1.0.0/16", "192.0.2.0/24"] },
    { ...READER, allowedCIDRs: ["10.1.0.0/16", "10.0.0.0/8"] },
    { allowedCIDRs: ["10.0.0.0/8"] },
  ],
  ["allowedCIDRs", READER, { ...READER, allowedCIDRs: ["2001:db8:1::/48"] }, { allowedCIDRs: ["2001:db8::/32"] }],
  [
    "rateLimit.requestsPerMinute.max",
    { ...READER, rateLimit: { requestsPerMinute: 60, burst: 61 } },
    { ...READER, rateLimit: { requestsPerMinute: 60 } },
    { rateLimit: { requestsPerMinute: { max: 60 } } },
  ],
  [
    "rateLimit.requestsPerMinute.max",
    { ...READER, rateLimit: { requestsPerMinute: 61 } },
    READER,
    { rateLimit: { requestsPerMinute: { default: 10, max: 60 } } },
  ],
  [
    "rateLimit.concurrent.max",
    READER,
    { ...READER, rateLimit: { concurrent: 4 } },
    { rateLimit: { concurrent: { max: 4 } } },
  ],
  [
    "rateLimit.tokensPerMinute.max",
    { ...READER, rateLimit: { tokensPerMinute: 1_001 } },
    { ...READER, rateLimit: { tokensPerMinute: 1_000 } },
    { rateLimit: { tokensPerMinute: { max: 1_000 } } },
  ],
  [
    "rateLimit.tokensPerMinute.max",
    { ...READER, rateLimit: { tokensPerMinute: 1_001 } },
    READER,
    { rateLimit: { tokensPerMinute: { default: 10, max: 1_000 } } },
  ],
  [
    "budgets",
    { ...READER, budgets: [{ tokens: 1_001, period: "Month" }] },
    { ...READER, budgets: [{ tokens: 1_000, period: "Month", timeZone: "Europe/Berlin" }] },
    { budgets: [{ tokens: 1_000, period: "Month" }] },
  ],
  [
    "budgets",
    { ...READER, budgets: [{ cost: "100.01", currency: "USD", period: "Day" }] },
    { ...READER, budgets: [{ tokens: 5_000, period: "Day" }] },
    { budgets: [{ cost: "100", currency: "USD", period: "Day" }] },
  ],
])("a key breaks %s or keeps it", (rule, breaking, keeping, rules) => {
  expect(broken(breaking, rules)).toEqual([rule]);
  expect(broken(keeping, rules)).toEqual([]);
});

test("the keys that a team may have are the oldest", () => {
  expect(broken(READER, { maxKeys: 2 }, 1)).toEqual([]);
  expect(broken(READER, { maxKeys: 2 }, 2)).toEqual(["maxKeys"]);
});

test("of several policies all must hold, and the strictest default is given, within what each allows", () => {
  const policies = [
    { expiry: { default: "720h" }, rateLimit: { requestsPerMinute: { default: 100 } } },
    { expiry: { max: "480h" }, rateLimit: { requestsPerMinute: { default: 50, max: 60 } } },
  ].map((rules, i) => declarePolicy(`policy-${i}`, checkedSpec("PlatformKeyPolicy", { teamSelector: {}, ...rules })));
  const given = withPolicyDefaults(declareKey("ns", "key", checkedSpec("PlatformKey", READER)), policies);
  expect(given).toMatchObject({ expiresAfter: 480 * 3_600_000, rateLimit: { requestsPerMinute: 50, burst: 50 } });
  const declared = { ...given, expiresAfter: 800 * 3_600_000 };
  expect(judgeKey(declared, policies, { bornAt: NOW, now: NOW, keysBefore: null }).map(violationText)).toEqual([
    "spec.expiresAfter: a version lives for at most 480h: write at most 480h (PlatformKeyPolicy policy-1).",
  ]);
});
