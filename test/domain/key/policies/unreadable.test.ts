import { expect, test } from "vitest";
import { readDeclaredObject } from "../../../../controller/cluster/kubernetes/watch/read-object.ts";
import { planEnd } from "../../../../domain/key/plan/plan-end.ts";
import { planKey } from "../../../../domain/key/plan/plan-key.ts";
import { NO_VERDICT } from "../../../../domain/key/policies/hold-to-policies.ts";
import { NOW } from "../../rule-table.ts";
import { AT_REST_SITUATION, observedKey } from "../situations.ts";

const verdict = { ...NO_VERDICT, unreadable: ["uid-of-a-policy"] };

test("b126: a policy with a rule that this version does not know cannot be read, and is not taken without that rule", () => {
  const spec = { teamSelector: {}, gracePeriod: "168h", maxKeys: 1, maxTokens: 5 };
  const metadata = { name: "production", uid: "uid", generation: 1, creationTimestamp: "2026-11-01T00:00:00Z" };
  expect(readDeclaredObject("PlatformKeyPolicy", { metadata, spec }).problem).toContain("maxTokens: unknown field");
});

test("b126: no new key is issued while a policy cannot be read", () => {
  const { action, conditions } = planKey(
    observedKey({ ...AT_REST_SITUATION, stored: undefined, secret: { state: "absent" }, verdict }),
    NOW,
  );
  expect(action.do).toBe("Nothing");
  expect(conditions[0]).toMatchObject({ type: "Ready", status: "False", reason: "PolicyUnreadable" });
});

test("b126: a key that was issued goes on as it is while a policy cannot be read, and can be suspended", () => {
  const declared = { ...AT_REST_SITUATION.declared, displayName: "another name" };
  const observed = observedKey({ ...AT_REST_SITUATION, declared, generation: 2, verdict });
  expect(planKey(observed, NOW).action.do).toBe("Nothing");
  const end = planEnd({ ...observed, declared: { ...declared, state: "Suspended" } });
  expect(end).toMatchObject({ do: "UpdatePolicy", policy: { displayName: "key", suspended: true } });
});

test("b180: an edit that a policy keeps off counts as applied only where it suspends the key", () => {
  const notApplied = { ...NO_VERDICT, notApplied: ["spec.scopes: memory:write may not be given."] };
  const declared = { ...AT_REST_SITUATION.declared, concurrent: 3 };
  const held = observedKey({ ...AT_REST_SITUATION, declared, generation: 2, verdict: notApplied });
  expect(planKey(held, NOW).action).toMatchObject({ do: "UpdatePolicy", generation: 1, policy: { concurrent: 3 } });
  const suspended = { ...held, declared: { ...declared, state: "Suspended" as const } };
  expect(planKey(suspended, NOW).action).toMatchObject({ generation: 2, policy: { suspended: true } });
});
