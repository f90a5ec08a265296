import { expect, test } from "vitest";
import { isNoWider } from "../../../../domain/key/plan/no-wider.ts";
import { planEnd } from "../../../../domain/key/plan/plan-end.ts";
import { planKey } from "../../../../domain/key/plan/plan-key.ts";
import type { KeyPolicy } from "../../../../domain/key/stored/stored-key.ts";
import { DAY, NOW } from "../../rule-table.ts";
import { AT_REST_SITUATION, KEY, observedKey, version, versions } from "../situations.ts";

const RATE = { requestsPerMinute: 60, burst: 60, scope: "Replica" } as const;
const FULL: KeyPolicy = {
  ...KEY.policy,
  boundGatewayId: "gw",
  expiresAt: NOW,
  rateLimit: RATE,
  concurrent: 4,
  tokenLimit: { tokensPerMinute: 100, scope: "Replica" },
  budgets: null,
  subject: { mode: "Required" },
  allowedCIDRs: ["10.0.0.0/8"],
};

test.each<[keyof KeyPolicy, Partial<KeyPolicy>, Partial<KeyPolicy>]>([
  ["scopes", { scopes: [...FULL.scopes, "gateway:generate"] }, { scopes: ["memory:read"] }],
  ["boundGatewayId", { boundGatewayId: null }, { boundGatewayId: "" }],
  ["libraryIds", { libraryIds: null }, { libraryIds: ["lib_a"] }],
  ["allowedModels", { allowedModels: ["another"] }, { allowedModels: ["model-a"] }],
  ["expiresAt", { expiresAt: null }, { expiresAt: NOW - DAY }],
  ["rateLimit", { rateLimit: { ...RATE, burst: 61 } }, { rateLimit: { ...RATE, requestsPerMinute: 1 } }],
  ["concurrent", { concurrent: null }, { concurrent: 3 }],
  ["tokenLimit", { tokenLimit: null }, { tokenLimit: { tokensPerMinute: 99, scope: "Installation" } }],
  ["subject", { subject: null }, { subject: { mode: "Required" } }],
  ["allowedCIDRs", { allowedCIDRs: ["10.0.0.0/7"] }, { allowedCIDRs: ["10.1.0.0/16"] }],
])("a key may do more by another %s, or no more", (_, wider, narrower) => {
  expect(isNoWider({ ...FULL, ...wider }, FULL)).toBe(false);
  expect(isNoWider({ ...FULL, ...narrower }, FULL)).toBe(true);
});

const unclaimed = { ...AT_REST_SITUATION, references: { ...AT_REST_SITUATION.references, teamId: null } };

test("b126: a namespace that loses its team lifts nothing that a policy has set of its keys", () => {
  const set = { scopes: ["memory:read"], expiresAt: NOW - DAY, rateLimit: RATE } as const;
  for (const [field, value] of Object.entries(set)) {
    const observed = observedKey({ ...unclaimed, stored: { ...KEY, policy: { ...KEY.policy, [field]: value } } });
    expect(planKey(observed, NOW).action.do).toBe("Nothing");
    const end = planEnd({ ...observed, declared: { ...observed.declared, state: "Suspended" } });
    expect(end).toMatchObject({ do: "UpdatePolicy", policy: { [field]: value, suspended: true } });
  }
  const ends = observedKey({
    ...unclaimed,
    stored: { ...KEY, versions: versions(version(1, { expiresAt: NOW + DAY })) },
  });
  expect(planKey(ends, NOW).action.do).toBe("Nothing");
});
