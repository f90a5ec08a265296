import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { eachFact, FACT_NAMES } from "../../../../domain/key/declaration/facts.ts";
import type { KeyPolicy } from "../../../../domain/key/declaration/key-policy.ts";
import { declareKey } from "../../../../domain/key/fields/declare-key.ts";
import {
  isNoWider,
  NO_POLICY,
  policyDifferences,
  policyOf,
  samePolicy,
  specOfPolicy,
} from "../../../../domain/key/fields/key-policies.ts";
import type { Spec } from "../../../../domain/kinds/kinds.ts";
import { key, storedSpec } from "../../manifest/read.ts";

type FieldCase<Value> = {
  readonly value: Value;
  /** As the spec of {@link SPEC} comes to be written again. */
  readonly written: object;
  readonly shown: string;
  readonly shownNone: string;
  readonly path: string;
  readonly label: string;
  /** What lets the key do more than `value` does. */
  readonly wider: readonly Value[];
  readonly noWider: readonly Value[];
  /** The same in another order, where that means nothing. */
  readonly reordered?: Value;
};

const END = Date.parse("2027-01-31T00:00:00Z");
const RATE = { requestsPerMinute: 60, burst: 10, scope: "Installation" } as const;
const TOKENS = { tokensPerMinute: 1000, scope: "Installation" } as const;
const MONTH = { tokens: 100, period: "Month", timeZone: "UTC", onExhausted: "Refuse" } as const;
const TOTAL = { cost: "2.50", currency: "USD", period: "Total", timeZone: "UTC", onExhausted: "Alert" } as const;

/** Every field in literals: what a table says is held against nothing that is made of it. */
const CASES: { readonly [F in keyof KeyPolicy]: FieldCase<KeyPolicy[F]> } = {
  displayName: {
    ...{ path: "spec.displayName", label: "name", value: "A key", shown: "A key", shownNone: "" },
    ...{ written: { displayName: "A key" }, wider: [], noWider: ["Another"] },
  },
  scopes: {
    ...{ path: "spec.scopes", label: "scopes", value: ["memory:read", "gateway:embed"] },
    ...{ shown: "gateway:embed, memory:read", shownNone: "none" },
    written: { scopes: ["memory:read", "gateway:embed"] },
    wider: [["memory:read", "gateway:embed", "memory:write"], ["gateway:generate"]],
    noWider: [["memory:read"], []],
    reordered: ["gateway:embed", "memory:read"],
  },
  boundGatewayId: {
    ...{ path: "spec.gatewayRef", label: "gateway", value: "gw-1", shown: "gw-1", shownNone: "any" },
    written: { gatewayRef: { namespace: "team-a", name: "gw-1" } },
    ...{ wider: [null, "gw-2"], noWider: ["gw-1", ""] },
  },
  allowedModels: {
    ...{ path: "spec.allowedModels", label: "models", value: ["m2", "m1"], shown: "m1, m2", shownNone: "any" },
    written: { allowedModels: ["m2", "m1"] },
    ...{ wider: [null, ["m3"]], noWider: [["m1"], []], reordered: ["m1", "m2"] },
  },
  libraryIds: {
    ...{ path: "spec.libraryAccess", label: "libraries", value: ["lib-b", "lib-a"] },
    ...{ shown: "lib-a, lib-b", shownNone: "all" },
    written: {
      libraryAccess: {
        mode: "Restricted",
        libraryRefs: [
          { namespace: "team-a", name: "lib-b" },
          { namespace: "team-a", name: "lib-a" },
        ],
      },
    },
    ...{ wider: [null, ["lib-a", "lib-c"]], noWider: [["lib-b"], []], reordered: ["lib-a", "lib-b"] },
  },
  mcpDefaultLibraryId: {
    ...{ path: "spec.mcpDefaultLibraryRef", label: "default library", value: "lib-a", shown: "lib-a" },
    shownNone: "none",
    written: { mcpDefaultLibraryRef: { namespace: "team-a", name: "lib-a" } },
    ...{ wider: [], noWider: [null, "", "lib-b"] },
  },
  subject: {
    ...{ path: "spec.subjectAccess", label: "memory of", value: { mode: "Bound", subject: "ada" } },
    ...{ shown: "ada", shownNone: "all", written: { subjectAccess: { mode: "Bound", subject: "ada" } } },
    wider: [null, { mode: "Required" }, { mode: "Bound", subject: "bob" }],
    noWider: [{ mode: "Bound", subject: "ada" }],
  },
  allowedCIDRs: {
    ...{ path: "spec.allowedCIDRs", label: "networks", value: ["2001:db8::/32", "10.0.0.0/8"] },
    ...{ shown: "10.0.0.0/8, 2001:db8::/32", shownNone: "any" },
    written: { allowedCIDRs: ["2001:db8::/32", "10.0.0.0/8"] },
    wider: [null, ["10.0.0.0/7"], ["10.0.0.0/8", "192.0.2.1/32"]],
    noWider: [["10.1.0.0/16"], []],
    reordered: ["10.0.0.0/8", "2001:db8::/32"],
  },
  suspended: {
    ...{ path: "spec.state", label: "state", value: true, shown: "Suspended", shownNone: "Active" },
    ...{ written: { state: "Suspended" }, wider: [], noWider: [false] },
  },
  expiresAt: {
    ...{ path: "spec.expiresAt", label: "expires", value: END, shown: "2027-01-31T00:00:00.000Z", shownNone: "never" },
    ...{ written: { expiresAt: "2027-01-31T00:00:00.000Z" }, wider: [null, END + 1], noWider: [END - 1] },
  },
  rateLimit: {
    ...{ path: "spec.rateLimit", label: "rate", value: RATE, shownNone: "unlimited" },
    shown: "60/min, burst 10, of each installation",
    written: { rateLimit: { ...RATE, tokensPerMinute: 1000, concurrent: 4 } },
    wider: [null, { ...RATE, requestsPerMinute: 61 }, { ...RATE, burst: 11 }, { ...RATE, scope: "Replica" }],
    noWider: [{ ...RATE, burst: 9 }],
  },
  concurrent: {
    ...{ path: "spec.rateLimit.concurrent", label: "concurrent", value: 4, shown: "4", shownNone: "default" },
    ...{ written: {}, wider: [null, 5], noWider: [3] },
  },
  tokenLimit: {
    ...{ path: "spec.rateLimit.tokensPerMinute", label: "tokens", value: TOKENS, shownNone: "unlimited" },
    ...{ shown: "1000/min, of each installation", written: {} },
    wider: [null, { ...TOKENS, tokensPerMinute: 1001 }, { ...TOKENS, scope: "Replica" }],
    noWider: [{ ...TOKENS, tokensPerMinute: 999 }],
  },
  owner: {
    ...{ path: "spec.owner", label: "owner", value: "ann@example.com", shown: "ann@example.com", shownNone: "none" },
    ...{ written: { owner: "ann@example.com" }, wider: [], noWider: ["bob", null] },
  },
  budgets: {
    ...{ path: "spec.budgets", label: "budgets", value: [TOTAL, MONTH], shownNone: "none" },
    shown: "100 tokens a month (UTC), refuses, 2.50 USD in all, alerts",
    written: { budgets: [TOTAL, MONTH] },
    wider: [null, [TOTAL], [{ ...MONTH, tokens: 101 }], [{ ...MONTH, onExhausted: "Alert" }]],
    ...{ noWider: [[MONTH], [{ ...MONTH, tokens: 99 }]], reordered: [MONTH, TOTAL] },
  },
};

const SPEC: Spec<"PlatformKey"> = storedSpec(
  key(`{ displayName: A key, owner: ann@example.com, scopes: [memory:read, gateway:embed], gatewayRef: { name: gw-1 }, allowedModels: [m2, m1],
    libraryAccess: { mode: Restricted, libraryRefs: [{ name: lib-b }, { name: lib-a }] },
    mcpDefaultLibraryRef: { name: lib-a }, subjectAccess: { mode: Bound, subject: ada },
    allowedCIDRs: ["2001:db8::/32", 10.0.0.0/8], state: Suspended, expiresAt: "2027-01-31T00:00:00Z",
    rateLimit: { requestsPerMinute: 60, burst: 10, scope: Installation, concurrent: 4, tokensPerMinute: 1000 },
    budgets: [{ cost: "2.50", currency: USD, period: Total, onExhausted: Alert }, { tokens: 100, period: Month }] }`),
) as Spec<"PlatformKey">;
const REFERENCES = {
  ...{ teamId: "team", gatewayId: "gw-1", gatewayPublicId: "pub", libraryIds: ["lib-b", "lib-a"] },
  ...{ mcpDefaultLibraryId: "lib-a", missing: [] },
};

const named = Object.entries(CASES) as [keyof KeyPolicy, FieldCase<unknown>][];
const FULL = Object.fromEntries(named.map(([name, { value }]) => [name, value])) as KeyPolicy;
const nameOf = (id: string) => (id === "" ? undefined : { namespace: "team-a", name: id });
const NAMES = { gateway: nameOf, library: nameOf };

describe("a key's fields", () => {
  it("are what a spec declares, and are written as it says them", () => {
    expect(policyOf(declareKey("team-a", "a", SPEC), REFERENCES)).toStrictEqual(FULL);
    expect(specOfPolicy(FULL, NAMES)).toStrictEqual(Object.assign({}, ...named.map(([, { written }]) => written)));
  });

  it("are nothing where a spec says nothing, and its references are of nothing that is there", () => {
    const none = storedSpec(key("{ preset: MCPReadOnly }")) as Spec<"PlatformKey">;
    const references = { ...REFERENCES, gatewayId: null, libraryIds: null, mcpDefaultLibraryId: null };
    expect(policyOf(declareKey("team-a", "a", none), references)).toStrictEqual({
      ...{ displayName: "a", scopes: ["memory:read"], boundGatewayId: null, libraryIds: null },
      ...{ mcpDefaultLibraryId: null, allowedModels: null, suspended: false, expiresAt: null, rateLimit: null },
      ...{
        concurrent: null,
        tokenLimit: null,
        budgets: null,
        subject: null,
        allowedCIDRs: null,
        ...eachFact(() => null),
      },
    });
    const gone = { ...NO_POLICY, displayName: "a", boundGatewayId: "", mcpDefaultLibraryId: "" };
    expect(specOfPolicy(gone, NAMES)).toStrictEqual({ displayName: "a", scopes: [], state: "Active" });
  });

  it.each(named)("%s is shown, and named by its path", (field, { path, label, shown, shownNone }) => {
    const after = { ...NO_POLICY, [field]: FULL[field] };
    expect(policyDifferences(NO_POLICY, after)).toEqual([{ field, path, label, before: shownNone, after: shown }]);
    expect(samePolicy(NO_POLICY, after)).toBe(false);
  });

  it.each(named)("b126: %s lets a key do no more only where it is held against what was", (field, one) => {
    for (const wider of one.wider)
      expect(isNoWider({ ...FULL, [field]: wider }, FULL), JSON.stringify(wider)).toBe(false);
    for (const other of one.noWider)
      expect(isNoWider({ ...FULL, [field]: other }, FULL), JSON.stringify(other)).toBe(true);
  });

  const sets = named.filter(([, { reordered }]) => reordered !== undefined);

  it.each(sets)("%s in another order are the same", (field, { reordered }) => {
    const other = { ...FULL, [field]: reordered };
    expect(samePolicy(FULL, other)).toBe(true);
    expect(policyDifferences(FULL, other)).toEqual([]);
  });
});

it("kubectl get shows each fact in a column of its own", () => {
  const text = readFileSync(new URL("../../../../crds/platformkeys.yaml", import.meta.url), "utf8");
  const shown = FACT_NAMES.filter((name) => text.includes(`jsonPath: .spec.${name}, priority: 1`));
  expect(shown).toEqual(FACT_NAMES);
});
