import { expect, test } from "vitest";
import { declareKey } from "../../../../domain/key/fields/declare-key.ts";
import { declarePolicy } from "../../../../domain/key/policies/declared-policy.ts";
import { judgeKey } from "../../../../domain/key/policies/judge-key.ts";
import { checkedSpec } from "./checked-spec.ts";

/** What a key is asked to write by policies `a`, `b` and so on, each once. */
function steps(key: object, ...rules: object[]): string[] {
  const policies = rules.map((rule, i) =>
    declarePolicy("abc".charAt(i), checkedSpec("PlatformKeyPolicy", { teamSelector: {}, ...rule })),
  );
  const facts = { bornAt: 0, now: 0, keysBefore: null };
  const declared = declareKey("ns", "key", checkedSpec("PlatformKey", key));
  return [...new Set(judgeKey(declared, policies, facts).map(({ step }) => step))];
}

const gateways = (...names: string[]) => ({ allowedGateways: names.map((name) => ({ namespace: "ns", name })) });
const CALLER = { scopes: ["gateway:generate"], allowedModels: ["small"], gatewayRef: { name: "main" } };
const CONTRADICTION = "nothing meets PlatformKeyPolicies a, b together, so have the platform change one of them";

test.for<[string, object, object[], string]>([
  ["scopes", CALLER, [{ allowedScopes: ["gateway:embed"] }, { allowedScopes: ["memory:read"] }], CONTRADICTION],
  ["preset", CALLER, [{ allowedScopes: ["gateway:routes"] }, { allowedPresets: ["MCPReadOnly"] }], CONTRADICTION],
  ["models", CALLER, [{ allowedModels: ["large"] }, { allowedModels: ["small", "other"] }], CONTRADICTION],
  ["gateways", CALLER, [gateways("main"), gateways("other")], CONTRADICTION],
  [
    "networks",
    { ...CALLER, allowedCIDRs: ["10.1.0.0/16"] },
    [{ allowedCIDRs: ["10.0.0.0/8"] }, { allowedCIDRs: ["2001:db8::/32"] }],
    CONTRADICTION,
  ],
])(
  "b227: where policies leave no %s over, the key's message names all of them, and who can act",
  ([, key, rules, step]) => {
    expect(steps(key, ...rules, { maxKeys: 3 })).toEqual([step]);
  },
);

test.for<[string, object, object[], string[]]>([
  [
    "scopes",
    { scopes: ["memory:write"] },
    [{ allowedScopes: ["memory:read", "gateway:embed"] }, { allowedScopes: ["memory:read"] }],
    ["write none but memory:read"],
  ],
  [
    "a preset, by the scopes that are left of it",
    { scopes: ["gateway:embed"] },
    [{ allowedPresets: ["MCPReadOnly"] }, { allowedPresets: ["MCPReadWrite"] }],
    ["write preset: MCPReadOnly", "write scopes: [memory:read]"],
  ],
  ["models", CALLER, [{ allowedModels: ["a", "b"] }, { allowedModels: ["b", "c"] }], ["write none but b"]],
  ["gateways", CALLER, [gateways("a", "b"), gateways("b", "c")], ["bind it to ns/b"]],
  [
    "networks",
    { ...CALLER, allowedCIDRs: ["192.0.2.0/24"] },
    [{ allowedCIDRs: ["10.0.0.0/8"] }, { allowedCIDRs: ["10.1.0.0/16", "192.0.2.0/25"] }],
    ["write networks within 10.1.0.0/16"],
  ],
])("b227: of %s a message asks for what no other policy refuses", ([, key, rules, asked]) => {
  expect(steps(key, ...rules)).toEqual(asked);
});
