import { manifest } from "../read.ts";
import type { RuleCase } from "./rule-cases.ts";

const policy = (rules: string, selector = "{}") =>
  manifest("PlatformKeyPolicy", `{ teamSelector: ${selector}, ${rules} }`, { name: "a" });
const selecting = (expression: string) => policy("maxKeys: 1", `{ matchExpressions: [${expression}] }`);

/** The rules of PlatformKeyPolicy, for `RULE_CASES`. */
export const POLICY_RULE_CASES: readonly RuleCase[] = [
  {
    rule: "a policy asks something",
    accepts: [policy("maxKeys: 1"), policy("expiry: { required: true }")],
    refuses: [policy("gracePeriod: 24h")],
    says: "spec: the policy asks nothing of any key: write a rule",
  },
  {
    rule: "In and NotIn have values",
    accepts: [selecting("{ key: tier, operator: In, values: [a] }")],
    refuses: [selecting("{ key: tier, operator: NotIn }")],
    says: "spec.teamSelector.matchExpressions[0]: In and NotIn need values: write values: [a-value]",
  },
  {
    rule: "Exists and DoesNotExist have no values",
    accepts: [selecting("{ key: example.com/tier, operator: Exists }")],
    refuses: [selecting("{ key: tier, operator: DoesNotExist, values: [a] }")],
    says: "spec.teamSelector.matchExpressions[0].values: Exists and DoesNotExist look at no value: remove values, or write In or NotIn",
  },
  {
    rule: "a grace period is no moment",
    accepts: [policy("maxKeys: 1, gracePeriod: 1s")],
    refuses: [policy("maxKeys: 1, gracePeriod: 0s")],
    says: "spec.gracePeriod: gracePeriod must be at least a second: write a duration such as 168h",
  },
  {
    rule: "an expiry asks something",
    accepts: [policy("expiry: { max: 24h }")],
    refuses: [policy("expiry: {}")],
    says: "spec.expiry: expiry asks nothing: write required, default, max or several of them",
  },
  {
    rule: "a default life is within the longest",
    accepts: [policy("expiry: { default: 24h, max: 24h }")],
    refuses: [policy("expiry: { default: 24h1s, max: 24h }")],
    says: "spec.expiry.default: default must not be longer than max: write a shorter default, or a longer max",
  },
  {
    rule: "a default life is no moment",
    accepts: [policy("expiry: { default: 1s }")],
    refuses: [policy("expiry: { default: 0s }")],
    says: "spec.expiry.default: default must be at least a second: write a duration such as 2160h",
  },
  {
    rule: "the longest life is no moment",
    accepts: [policy("expiry: { max: 1s }")],
    refuses: [policy("expiry: { max: 0h }")],
    says: "spec.expiry.max: max must be at least a second: write a duration such as 2160h",
  },
  {
    rule: "the longest interval is no moment",
    accepts: [policy("rotation: { maxInterval: 1s }")],
    refuses: [policy("rotation: { maxInterval: 0s }")],
    says: "spec.rotation.maxInterval: maxInterval must be at least a second: write a duration such as 720h",
  },
  {
    rule: "rates ask something",
    accepts: [policy("rateLimit: { concurrent: { max: 4 } }")],
    refuses: [policy("rateLimit: {}")],
    says: "spec.rateLimit: rateLimit asks nothing: write requestsPerMinute, concurrent, tokensPerMinute or several of them",
  },
  {
    rule: "a policy has one budget of a period, in tokens and in money",
    accepts: [policy('budgets: [{ tokens: 1, period: Day }, { cost: "1", currency: USD, period: Day }]')],
    refuses: [policy("budgets: [{ tokens: 1, period: Day }, { tokens: 2, period: Day }]")],
    says: "spec.budgets: budgets has two of one period: keep the one that is meant",
  },
  {
    rule: "a policy's budget is of tokens or of cost",
    accepts: [policy("budgets: [{ tokens: 1, period: Day }]")],
    refuses: [policy("budgets: [{ period: Day }]")],
    says: "spec.budgets[0]: a budget is of tokens or of cost: write one of the two",
  },
  {
    rule: "a policy's budget has a currency with its cost",
    accepts: [policy('budgets: [{ cost: "0.01", currency: EUR, period: Total }]')],
    refuses: [policy('budgets: [{ cost: "1", period: Day }]')],
    says: 'spec.budgets[0]: cost and currency belong together: write both, such as cost: "250.00" and currency: USD',
  },
  {
    rule: "a policy's budget is more than nothing",
    accepts: [policy('budgets: [{ cost: "0.000001", currency: USD, period: Day }]')],
    refuses: [policy('budgets: [{ cost: "0.00", currency: USD, period: Day }]')],
    says: "spec.budgets[0]: cost must be more than nothing",
  },
  {
    rule: "a policy's budget begins in a zone that is known",
    accepts: [policy("budgets: [{ tokens: 1, period: Day, timeZone: Asia/Tokyo }]")],
    refuses: [policy("budgets: [{ tokens: 1, period: Day, timeZone: Local }]")],
    says: "spec.budgets[0]: timeZone is none that is known: write an IANA name, such as Europe/Berlin, or remove it for UTC",
  },
  {
    rule: "what teams share has one budget of a period",
    accepts: [
      policy(
        'sharedBudgets: [{ tokens: 1, period: Day, onExhausted: Alert }, { cost: "1", currency: USD, period: Day }]',
      ),
    ],
    refuses: [policy("sharedBudgets: [{ tokens: 1, period: Day }, { tokens: 2, period: Day }]")],
    says: "spec.sharedBudgets: sharedBudgets has two of one period: keep the one that is meant",
  },
  {
    rule: "what teams share is of tokens or of cost",
    accepts: [policy("sharedBudgets: [{ tokens: 1, period: Day }]")],
    refuses: [policy('sharedBudgets: [{ tokens: 1, cost: "1", currency: USD, period: Day }]')],
    says: "spec.sharedBudgets[0]: a budget is of tokens or of cost: write one of the two",
  },
  {
    rule: "what teams share has a currency with its cost",
    accepts: [policy('sharedBudgets: [{ cost: "0.01", currency: EUR, period: Total }]')],
    refuses: [policy('sharedBudgets: [{ cost: "1", period: Day }]')],
    says: 'spec.sharedBudgets[0]: cost and currency belong together: write both, such as cost: "250.00" and currency: USD',
  },
  {
    rule: "what teams share is more than nothing",
    accepts: [policy('sharedBudgets: [{ cost: "0.000001", currency: USD, period: Day }]')],
    refuses: [policy('sharedBudgets: [{ cost: "0.00", currency: USD, period: Day }]')],
    says: "spec.sharedBudgets[0]: cost must be more than nothing",
  },
  {
    rule: "what teams share begins in a zone that is known",
    accepts: [policy("sharedBudgets: [{ tokens: 1, period: Day, timeZone: Asia/Tokyo }]")],
    refuses: [policy("sharedBudgets: [{ tokens: 1, period: Day, timeZone: Local }]")],
    says: "spec.sharedBudgets[0]: timeZone is none that is known: write an IANA name, such as Europe/Berlin, or remove it for UTC",
  },
  ...["requestsPerMinute", "concurrent", "tokensPerMinute"].flatMap((field) => [
    {
      rule: "a bound asks something",
      accepts: [policy(`rateLimit: { ${field}: { default: 1 } }`)],
      refuses: [policy(`rateLimit: { ${field}: {} }`)],
      says: `spec.rateLimit.${field}: this asks nothing: write default, max or both`,
    },
    {
      rule: "a default rate is within the highest",
      accepts: [policy(`rateLimit: { ${field}: { default: 4, max: 4 } }`)],
      refuses: [policy(`rateLimit: { ${field}: { default: 5, max: 4 } }`)],
      says: `spec.rateLimit.${field}.default: default must not be higher than max: write a lower default, or a higher max`,
    },
  ]),
];
