import { readFileSync } from "node:fs";
import { Environment } from "@marcbachmann/cel-js";
import fc from "fast-check";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { declareKey } from "../../../domain/key/fields/declare-key.ts";
import { addedViolations } from "../../../domain/key/policies/added-violations.ts";
import { declarePolicy } from "../../../domain/key/policies/declared-policy.ts";
import { judgeKey } from "../../../domain/key/policies/judge-key.ts";
import { withPolicyDefaults } from "../../../domain/key/policies/policy-defaults.ts";
import { checkSpec } from "../../../domain/manifest/validation/check-spec.ts";
import { checkedSpec } from "../../domain/key/policies/checked-spec.ts";
import { examples } from "../../env/nightly.ts";

type NamedExpression = { readonly name: string; readonly expression: string };
const ADMISSION: {
  readonly variables: readonly NamedExpression[];
  readonly matchConditions: readonly NamedExpression[];
  readonly validations: readonly { readonly expression: string }[];
} = parse(readFileSync(new URL("../../../infra/chart/files/key-policies.yaml", import.meta.url), "utf8"));

/** What each of its validations is of, in their order. */
const RULES = [
  "expiry.required",
  "expiry.max",
  "rotation.maxInterval",
  "allowedScopes",
  "allowedPresets",
  "rateLimit.requestsPerMinute.max",
  "rateLimit.concurrent.max",
  "rateLimit.tokensPerMinute.max",
] as const;

const CREATED = "2026-11-14T12:00:00Z";
const environment = new Environment({ unlistedVariablesAreDyn: true });
const parsed = (expression: string) => environment.parse(expression);
const MATCH_CONDITIONS = ADMISSION.matchConditions.map(({ expression }) => parsed(expression));
const VARIABLES = ADMISSION.variables.map(({ name, expression }) => ({ name, valueIn: parsed(expression) }));
const VALIDATIONS = ADMISSION.validations.map(({ expression }) => parsed(expression));

type AdmissionCase = {
  readonly spec: object;
  readonly old?: object;
  readonly policy: object;
  readonly namespaces?: string[];
};

/** The rules that admission refuses a key by; undefined where it does not look at it. */
function refusedBy({ spec, old, policy, namespaces = ["dev"] }: AdmissionCase): string[] | undefined {
  const object = (of: object) => ({ metadata: { name: "agent", creationTimestamp: CREATED }, spec: of });
  const context: Record<string, unknown> = {
    ...{ object: object(spec), oldObject: old === undefined ? null : object(old), request: { namespace: "dev" } },
    params: { metadata: { name: "one" }, spec: policy, status: { namespaces } },
  };
  if (!MATCH_CONDITIONS.every((holdsIn) => holdsIn(context) === true)) return undefined;
  const variables: Record<string, unknown> = {};
  context.variables = variables;
  for (const { name, valueIn } of VARIABLES) variables[name] = valueIn(context);
  return RULES.filter((_, i) => VALIDATIONS[i]?.(context) !== true);
}

/** The rules that the controller refuses a new key by, or an edit of an older one, of those that admission looks at. */
function brokenBy(keySpec: object, policySpec: object, old?: object): string[] {
  const policies = [declarePolicy("one", checkedSpec("PlatformKeyPolicy", policySpec))];
  const now = Date.parse(CREATED);
  const facts = { bornAt: now, now, keysBefore: null };
  const declared = (spec: object) =>
    withPolicyDefaults(declareKey("dev", "agent", checkedSpec("PlatformKey", spec)), policies);
  const violations =
    old === undefined
      ? judgeKey(declared(keySpec), policies, facts)
      : addedViolations({ before: declared(old), after: declared(keySpec), policies, facts });
  const broken = new Set<string>(violations.map(({ rule }) => rule));
  return RULES.filter((rule) => broken.has(rule));
}

const isValid = (kind: "PlatformKey" | "PlatformKeyPolicy", spec: object) => "spec" in checkSpec(kind, "one", spec);
const life = fc.constantFrom("1h", "1.5h", "90m", "48h", "720h");
const small = fc.constantFrom(1, 2, 100, 255, 256, 257, 1_000);
const SCOPES = ["gateway:generate", "gateway:embed", "gateway:routes", "memory:read", "memory:write"];
const scopes = fc.uniqueArray(fc.constantFrom(...SCOPES), { minLength: 1 });
const preset = fc.constantFrom("MCPReadOnly", "MCPReadWrite", "GatewayDefault");
const given = (all: Record<string, fc.Arbitrary<unknown>>) => fc.record(all, { requiredKeys: [] });

const KEYS = fc
  .tuple(
    fc.oneof(fc.record({ scopes }), fc.record({ preset })),
    given({
      expiresAfter: life,
      expiresAt: fc.constantFrom(
        "2026-11-14T13:00:00Z",
        "2026-11-14T13:30:00.5Z",
        "2026-11-20T00:00:00Z",
        "9999-01-01T00:00:00Z",
      ),
      rotation: given({ interval: life }),
      rateLimit: given({ requestsPerMinute: small, burst: small, concurrent: small, tokensPerMinute: small }),
    }),
  )
  .map(([one, other]) => ({ ...one, ...other }))
  .filter((spec) => isValid("PlatformKey", spec));
const bounds = given({ default: small, max: small });
const POLICIES = given({
  expiry: given({ required: fc.boolean(), default: life, max: life }),
  rotation: fc.record({ maxInterval: life }),
  allowedScopes: scopes,
  allowedPresets: fc.uniqueArray(preset, { minLength: 1 }),
  rateLimit: given({ requestsPerMinute: bounds, concurrent: bounds, tokensPerMinute: bounds }),
})
  .map((rules) => ({ teamSelector: {}, ...rules }))
  .filter((spec) => isValid("PlatformKeyPolicy", spec));

test("b132: admission refuses a new key by the rules that the controller refuses it by, and by no others", () => {
  expect(ADMISSION.validations).toHaveLength(RULES.length);
  fc.assert(
    fc.property(KEYS, POLICIES, (spec, policy) => {
      expect(refusedBy({ spec, policy })).toEqual(brokenBy(spec, policy));
    }),
    { numRuns: examples(100) },
  );
});

test("b132: admission judges of an update what it changes, so that a finalizer can be taken off", () => {
  fc.assert(
    fc.property(KEYS, POLICIES, (old, policy) => {
      expect(refusedBy({ spec: old, old, policy })).toEqual([]);
    }),
    { numRuns: examples(100) },
  );
});

/** How old a version is decides whether an edit's expiresAt is in time: that is the controller's to know. */
const OF_LIFE: readonly string[] = ["expiry.max", "rotation.maxInterval"] satisfies (typeof RULES)[number][];

test("b226, b258: admission refuses an edit by what the controller finds that it adds, and none that only narrows", () => {
  const hasTime = (spec: object) => "expiresAt" in spec;
  fc.assert(
    fc.property(KEYS, KEYS, POLICIES, (old, spec, policy) => {
      const isCompared = (rule: string) => !OF_LIFE.includes(rule) || !hasTime(spec);
      const refused = refusedBy({ spec, old, policy }) ?? [];
      expect(refused.filter(isCompared)).toEqual(brokenBy(spec, policy, old).filter(isCompared));
      if (hasTime(spec)) expect(refused).not.toEqual(expect.arrayContaining([expect.toBeOneOf(OF_LIFE)]));
    }),
    { numRuns: examples(300) },
  );
});

test.for<[(typeof RULES)[number], object, object]>([
  ["expiry.required", { expiry: { required: true } }, {}],
  ["expiry.max", { expiry: { max: "1h" } }, { expiresAt: "9999-01-01T00:00:00Z" }],
  ["rotation.maxInterval", { rotation: { maxInterval: "1h" } }, { rotation: { interval: "2h" } }],
  ["allowedScopes", { allowedScopes: ["memory:write"] }, {}],
  ["allowedPresets", { allowedPresets: ["GatewayDefault"] }, { scopes: ["memory:write"] }],
  ["rateLimit.requestsPerMinute.max", { rateLimit: { requestsPerMinute: { max: 1 } } }, {}],
  ["rateLimit.concurrent.max", { rateLimit: { concurrent: { max: 255 } } }, {}],
  ["rateLimit.tokensPerMinute.max", { rateLimit: { tokensPerMinute: { max: 1_000 } } }, {}],
])("b132: admission refuses a key by %s", ([rule, policy, more]) => {
  expect(refusedBy({ spec: { scopes: ["memory:read"], ...more }, policy })).toEqual([rule]);
});

test("b132: admission leaves keys of other teams, and those that end", () => {
  const policy = { allowedScopes: ["memory:read"] };
  const spec = { scopes: ["memory:write"] };
  expect(refusedBy({ spec, policy })).toEqual(["allowedScopes"]);
  expect(refusedBy({ spec, policy, namespaces: ["other"] })).toBeUndefined();
  expect(refusedBy({ spec: { ...spec, state: "Revoked" }, policy })).toBeUndefined();
});
