import { expect, test } from "vitest";
import { isOfField } from "../../../../domain/key/fields/key-policies.ts";
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

test.each<[path: string, fields: readonly string[], others: readonly string[]]>([
  ["spec.scopes", ["spec.scopes", "spec.scopes[0]", "spec.preset"], ["spec.scopesOf", "metadata.spec.scopes"]],
  ["spec.rateLimit.concurrent", ["spec.rateLimit", "spec.rateLimit.concurrent"], ["spec.rateLimit.burst", "spec.rate"]],
  ["spec.libraryAccess", ["spec.libraryAccess.libraryRefs[notes]"], ["spec.libraryAccessed", "spec.preset"]],
  ["spec.expiresAt", ["spec.expiresAt"], ["spec.expiresAfter"]],
])("a field of a spec is one with %s by its whole path, and not by how it begins", (path, fields, others) => {
  expect(fields.filter((field) => !isOfField(field, path))).toEqual([]);
  expect(others.filter((field) => isOfField(field, path))).toEqual([]);
});
