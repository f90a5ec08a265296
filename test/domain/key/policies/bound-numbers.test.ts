import { expect, test } from "vitest";
import type { DeclaredKey } from "../../../../domain/key/declaration/declared-key.ts";
import type { KeyPolicy } from "../../../../domain/key/declaration/key-policy.ts";
import { boundNumbers } from "../../../../domain/key/policies/bound-numbers.ts";
import { declarePolicy } from "../../../../domain/key/policies/declared-policy.ts";
import { rulesOf } from "../../../../domain/key/policies/rules-in-force.ts";
import type { TeamPolicy } from "../../../../domain/key/policies/team-policies.ts";
import type { PlatformKeyPolicySpec } from "../../../../domain/kinds/generated/platform-key-policy.ts";
import { DAY, NOW } from "../../rule-table.ts";
import { declare } from "../exploration/world.ts";
import { KEY, storedKey } from "../situations.ts";

const GRACE = 7 * DAY;

function policy(rules: Partial<PlatformKeyPolicySpec>, since: number): TeamPolicy {
  const spec = { teamSelector: {}, gracePeriod: "168h", ...rules };
  return {
    ...declarePolicy("one", spec),
    since: Object.fromEntries([...rulesOf(spec).keys()].map((rule) => [rule, since])),
  };
}

function bound(policies: readonly TeamPolicy[], declared: Partial<DeclaredKey>, stored: Partial<KeyPolicy> = {}) {
  const key = storedKey({ ...KEY, policy: { ...KEY.policy, ...stored } });
  return boundNumbers(declare(declared), key, policies, NOW).effective;
}

const concurrent = (bounds: object) => ({ rateLimit: { concurrent: bounds } });
const DUE = NOW - GRACE;

test("b126: a rule that is due holds though another policy's rule is not due yet", () => {
  const policies = [policy(concurrent({ max: 10 }), DUE), policy(concurrent({ max: 5 }), NOW)];
  expect(bound(policies, { concurrent: 50 }, { concurrent: 50 }).concurrent).toBe(10);
  expect(bound(policies, { concurrent: 4 }, { concurrent: 50 }).concurrent).toBe(4);
  const intervals = [
    policy({ rotation: { maxInterval: "240h" } }, DUE),
    policy({ rotation: { maxInterval: "48h" } }, NOW),
  ];
  expect(bound(intervals, {}).rotationInterval).toBe(10 * DAY);
});

test("a highest value holds once it is due, and a default of the same policy later", () => {
  const both = policy(concurrent({ max: 10, default: 4 }), DUE);
  const late = { ...both, since: { ...both.since, "rateLimit.concurrent.default": NOW } };
  expect(bound([late], {}).concurrent).toBe(10);
  expect(bound([both], {}).concurrent).toBe(4);
});

test("b126: a key that declares no concurrency cannot raise it within the grace period", () => {
  const policies = [policy(concurrent({ max: 100 }), NOW)];
  expect(bound(policies, { concurrent: 10_000 }).concurrent).toBe(256);
  expect(bound(policies, {}).concurrent).toBeNull();
});

test("a highest concurrency gives a key no more than it has without a policy", () => {
  expect(bound([policy(concurrent({ max: 1000 }), DUE)], {}).concurrent).toBeNull();
});
