import { expect, test } from "vitest";
import { isOfPolicy } from "../../../../domain/key/fields/key-policies.ts";
import { planEnd } from "../../../../domain/key/plan/plan-end.ts";
import { planKey } from "../../../../domain/key/plan/plan-key.ts";
import { DAY, NOW } from "../../rule-table.ts";
import { AT_REST_SITUATION, KEY, observedKey, version, versions } from "../situations.ts";

const RATE = { requestsPerMinute: 60, burst: 60, scope: "Replica" } as const;
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

test("a field of a spec is part of a policy by its whole path, and not by how it begins", () => {
  const parts = [
    "spec.preset",
    "spec.rateLimit.scope",
    "spec.libraryAccess.libraryRefs[notes]",
    "spec.budgets[0].cost",
  ];
  expect(parts.filter((field) => !isOfPolicy(field))).toEqual([]);
  const others = [
    "spec.expiresAfter",
    "spec.rotation.interval",
    "spec.stateful",
    "spec.scopesOf",
    "metadata.spec.state",
  ];
  expect(others.filter(isOfPolicy)).toEqual([]);
});
