import { expect, test } from "vitest";
import { declareKey } from "../../../../domain/key/fields/declare-key.ts";
import { addedViolations } from "../../../../domain/key/policies/added-violations.ts";
import { declarePolicy } from "../../../../domain/key/policies/declared-policy.ts";
import { withPolicyDefaults } from "../../../../domain/key/policies/policy-defaults.ts";
import { checkedSpec } from "./checked-spec.ts";

const NOW = Date.parse("2026-11-01T00:00:00Z");
const POLICY = {
  expiry: { required: true, max: "240h" },
  rotation: { maxInterval: "24h" },
  allowedScopes: ["memory:read"],
  allowedPresets: ["MCPReadOnly"],
  allowedModels: ["small"],
  allowedCIDRs: ["10.0.0.0/8"],
};
const CALLER = { scopes: ["memory:read", "gateway:generate"], allowedCIDRs: ["10.1.0.0/16"], expiresAfter: "200h" };

/** The rules that an edit of a key breaks by more than the key did. */
function added(before: object, after: object): string[] {
  const policies = [declarePolicy("one", checkedSpec("PlatformKeyPolicy", { teamSelector: {}, ...POLICY }))];
  const declared = (spec: object) =>
    withPolicyDefaults(declareKey("ns", "key", checkedSpec("PlatformKey", { ...CALLER, ...spec })), policies);
  const facts = { bornAt: NOW, now: NOW, keysBefore: null };
  return addedViolations({ before: declared(before), after: declared(after), policies, facts }).map(({ rule }) => rule);
}

test.for<[string, object, object, string[]]>([
  ["nothing", {}, { displayName: "another" }, []],
  ["a scope less", { scopes: ["memory:write", "gateway:embed"] }, { scopes: ["memory:write"] }, []],
  ["another scope", {}, { scopes: ["memory:read", "gateway:embed"] }, ["allowedScopes", "allowedPresets"]],
  ["models, of any", {}, { allowedModels: ["large"] }, []],
  ["any model", { allowedModels: ["large"] }, { allowedModels: undefined }, ["allowedModels"]],
  ["fewer networks", { allowedCIDRs: ["192.0.2.0/24", "10.0.0.0/8"] }, { allowedCIDRs: ["192.0.2.0/24"] }, []],
  ["another network", {}, { allowedCIDRs: ["192.0.2.0/24"] }, ["allowedCIDRs"]],
  ["a shorter life", { expiresAfter: "9000h" }, { expiresAfter: "8000h" }, []],
  ["a longer life", { expiresAfter: "300h" }, { expiresAfter: "301h" }, ["expiry.max", "rotation.maxInterval"]],
  ["no end", {}, { expiresAfter: undefined }, ["expiry.required", "expiry.max", "rotation.maxInterval"]],
  ["an end, of none", { expiresAfter: undefined }, { expiresAfter: "9000h" }, []],
  ["a shorter interval", { rotation: { interval: "96h" } }, { rotation: { interval: "48h" } }, []],
  ["a longer interval", { rotation: { interval: "48h" } }, { rotation: { interval: "96h" } }, ["rotation.maxInterval"]],
  ["an interval within its life", {}, { rotation: { interval: "199h" } }, []],
])("an edit to %s is judged by what it adds", ([, before, after, rules]) => {
  expect(added(before, after)).toEqual(rules);
});
