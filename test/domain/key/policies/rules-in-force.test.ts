import { expect, test } from "vitest";
import { type RuleName, rulesInForce, rulesOf } from "../../../../domain/key/policies/rules-in-force.ts";

const FIRST = "2026-11-01T00:00:00Z";
const TOKENS = (tokens: number, period = "Month") => ({ tokens, period, timeZone: "UTC" });
const SECOND = "2026-11-02T00:00:00Z";

test("a rule that stays as it is keeps its time, and one that changes or comes has a new one", () => {
  const spec = { teamSelector: {}, gracePeriod: "168h", maxKeys: 3, allowedModels: ["small"] };
  const before = rulesInForce(spec, [], FIRST);
  const now = rulesInForce({ ...spec, maxKeys: 2, expiry: { required: true } }, before, SECOND);
  expect(now.map(({ rule, since }) => [rule, since])).toEqual([
    ["expiry.required", SECOND],
    ["allowedModels", FIRST],
    ["maxKeys", SECOND],
  ]);
});

test("a rule is the value of the field that it is named after", () => {
  const bounds = (value: number) => ({ default: value, max: value + 1 });
  const rules = {
    expiry: { required: true, default: "1h", max: "2h" },
    rotation: { maxInterval: "3h" },
    allowedScopes: ["memory:read" as const],
    allowedPresets: ["MCPReadOnly" as const],
    ...{ allowedModels: ["small"], allowedGateways: [{ namespace: "a", name: "one" }], allowedCIDRs: ["10.0.0.0/8"] },
    maxKeys: 3,
    rateLimit: { requestsPerMinute: bounds(4), concurrent: bounds(6), tokensPerMinute: bounds(8) },
    budgets: [{ tokens: 5, period: "Month" as const, timeZone: "UTC" }],
  };
  const { expiry, rotation, rateLimit, ...others } = rules;
  const byName: Readonly<Record<RuleName, unknown>> = {
    ...others,
    ...{ "expiry.required": true, "expiry.default": "1h", "expiry.max": "2h", "rotation.maxInterval": "3h" },
    ...{ "rateLimit.requestsPerMinute.default": 4, "rateLimit.requestsPerMinute.max": 5 },
    ...{ "rateLimit.concurrent.default": 6, "rateLimit.concurrent.max": 7 },
    ...{ "rateLimit.tokensPerMinute.default": 8, "rateLimit.tokensPerMinute.max": 9 },
  };
  expect(Object.fromEntries(rulesOf({ teamSelector: {}, gracePeriod: "1h", ...rules }))).toEqual(byName);
});

test("what a policy says it does not ask is no rule", () => {
  const spec = { teamSelector: {}, gracePeriod: "168h", maxKeys: 3, expiry: { required: false } };
  expect(rulesInForce(spec, [], FIRST).map(({ rule }) => rule)).toEqual(["maxKeys"]);
});

test("a list in another order is the same rule", () => {
  const spec = { teamSelector: {}, gracePeriod: "168h" };
  const gateways = [
    { namespace: "a", name: "one" },
    { namespace: "b", name: "two" },
  ];
  const before = rulesInForce({ ...spec, allowedModels: ["b", "a"], allowedGateways: gateways }, [], FIRST);
  const turned = gateways.map(({ namespace, name }) => ({ name, namespace })).toReversed();
  const now = rulesInForce({ ...spec, allowedModels: ["a", "b"], allowedGateways: turned }, before, SECOND);
  expect(now.map(({ since }) => since)).toEqual([FIRST, FIRST]);
});

test.for<[string, object, object, boolean]>([
  ["a list with more entries", { allowedModels: ["a"] }, { allowedModels: ["b", "a"] }, true],
  ["a list with others", { allowedModels: ["a", "b"] }, { allowedModels: ["a", "c", "d"] }, false],
  ["a list with fewer entries", { allowedModels: ["a", "b"] }, { allowedModels: ["a"] }, false],
  ["a larger budget", { budgets: [TOKENS(5)] }, { budgets: [TOKENS(6)] }, true],
  ["a smaller budget", { budgets: [TOKENS(5)] }, { budgets: [TOKENS(4)] }, false],
  ["a budget more", { budgets: [TOKENS(5)] }, { budgets: [TOKENS(5), TOKENS(9, "Day")] }, false],
  ["a budget fewer", { budgets: [TOKENS(5), TOKENS(9, "Day")] }, { budgets: [TOKENS(5)] }, true],
  ["a higher number", { maxKeys: 2 }, { maxKeys: 10 }, true],
  ["a lower number", { maxKeys: 2 }, { maxKeys: 1 }, false],
  ["a longer duration", { expiry: { max: "90m" } }, { expiry: { max: "100h" } }, true],
  ["a shorter duration", { expiry: { max: "90m" } }, { expiry: { max: "1h" } }, false],
])("b126, b148: %s keeps the time of its rule only where it lets through all that it did", ([, was, is, isKept]) => {
  const [previous, spec] = [was, is].map((rules) => ({ teamSelector: {}, gracePeriod: "1h", ...rules }));
  if (previous === undefined || spec === undefined) throw new Error("both are given");
  const before = rulesInForce(previous, [], FIRST);
  const sinceOf = (known?: typeof previous) => rulesInForce(spec, before, SECOND, known)[0]?.since;
  expect(sinceOf(previous)).toBe(isKept ? FIRST : SECOND);
  // Nothing is known of a spec that the times are not of.
  expect(sinceOf()).toBe(SECOND);
  expect(sinceOf(spec)).toBe(SECOND);
});
