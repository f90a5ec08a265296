import { describe, expect, test } from "vitest";
import { declarePolicy } from "../../../../domain/key/policies/declared-policy.ts";
import {
  holdMadeKey,
  isHeldSo,
  judgeChange,
  judgeNewKey,
  lifeOfNext,
  type MadeKey,
} from "../../../../domain/key/policies/made-key.ts";
import { rulesOf } from "../../../../domain/key/policies/rules-in-force.ts";
import type { TeamPolicy } from "../../../../domain/key/policies/team-policies.ts";
import { checkSpec } from "../../../../domain/manifest/validation/check-spec.ts";
import { DAY, NOW } from "../../rule-table.ts";
import { KEY, storedKey, version, versions } from "../situations.ts";

/** A policy of old; or one that came to hold then. */
function policyOf(rules: object, since = NOW - 100 * DAY): TeamPolicy {
  const checked = checkSpec("PlatformKeyPolicy", "one", { teamSelector: {}, gracePeriod: "168h", ...rules });
  if ("diagnostics" in checked) throw new Error(JSON.stringify(checked.diagnostics));
  const names = [...rulesOf(checked.spec).keys()];
  return { ...declarePolicy("one", checked.spec), since: Object.fromEntries(names.map((name) => [name, since])) };
}

const made = (spec: Partial<MadeKey["spec"]> = {}, gateway: MadeKey["gateway"] = null): MadeKey => ({
  spec: { state: "Active", scopes: ["memory:read"], ...spec },
  gateway,
});

const FACTS = { now: NOW, keysBefore: null };

/** A key whose version was minted ten days ago. */
const stored = (expiresAt: number | null = null) =>
  storedKey({ ...KEY, policy: { ...KEY.policy, expiresAt: null }, versions: versions(version(1, { expiresAt })) });

describe("a key that is made by hand", () => {
  test("has an end within the longest interval of rotations, since none comes by itself", () => {
    const policies = [policyOf({ rotation: { maxInterval: "720h" } })];
    expect(judgeNewKey(made(), policies, FACTS).violations).toMatchObject([
      {
        rule: "rotation.maxInterval",
        field: "spec.expiresAfter",
        step: expect.stringContaining("none comes by itself"),
      },
    ]);
    expect(judgeNewKey(made({ expiresAfter: "720h" }), policies, FACTS).violations).toEqual([]);
  });

  test("is bound to no gateway that a policy names where that has no namespace", () => {
    const policies = [policyOf({ allowedGateways: [{ namespace: "a", name: "models" }] })];
    const asked = { scopes: ["gateway:generate" as const] };
    const rulesOfKey = (gateway: MadeKey["gateway"]) => judgeNewKey(made(asked, gateway), policies, FACTS).violations;
    expect(rulesOfKey({ namespace: "a", name: "models" })).toEqual([]);
    expect(rulesOfKey({ namespace: "", name: "models" })).toMatchObject([{ rule: "allowedGateways" }]);
    expect(rulesOfKey(null)).toMatchObject([{ rule: "allowedGateways" }]);
  });

  test("is refused its scopes at the field that gives them", () => {
    const policies = [policyOf({ allowedScopes: ["memory:read"] })];
    const fieldOf = (spec: object) => judgeNewKey(made(spec), policies, FACTS).violations[0]?.field;
    expect(fieldOf({ scopes: ["memory:write"] })).toBe("spec.scopes");
    expect(fieldOf({ scopes: undefined, preset: "MCPReadWrite" })).toBe("spec.preset");
  });
});

describe("a change of a key that was made by hand", () => {
  const RULES = {
    expiry: { max: "240h" },
    allowedScopes: ["memory:read"],
    rateLimit: { requestsPerMinute: { max: 10 }, concurrent: { max: 10 }, tokensPerMinute: { max: 10 } },
    budgets: [
      { tokens: 10, period: "Day" },
      { tokens: 10, period: "Month" },
    ],
  };
  const broken = made({
    scopes: ["memory:write"],
    expiresAfter: "480h",
    rateLimit: limits(20, 20),
    budgets: [...budgets(20, 20), weekly(20)],
  });
  const rulesBroken = (after: Partial<MadeKey["spec"]>) =>
    judgeChange(broken, made({ ...broken.spec, ...after }), stored(), [policyOf(RULES)], FACTS).map(({ rule }) => rule);

  test.for<[string, Partial<MadeKey["spec"]>, string[]]>([
    ["that leaves what it broke before", { displayName: "Another" }, []],
    ["that asks for less, and for too much still", { expiresAfter: "470h", rateLimit: limits(19, 19) }, []],
    ["that adds another scope", { scopes: ["memory:write", "gateway:embed"] }, ["allowedScopes"]],
    ["that swaps one for another", { scopes: ["gateway:embed"] }, ["allowedScopes"]],
    ["that has it live longer", { expiresAfter: "481h" }, ["expiry.max"]],
    ["that asks for more requests", { rateLimit: limits(21, 20) }, ["rateLimit.requestsPerMinute.max"]],
    ["that asks for more tokens", { rateLimit: limits(20, 20, 21) }, ["rateLimit.tokensPerMinute.max"]],
    [
      "that has no limit of tokens",
      { rateLimit: { requestsPerMinute: 20, burst: 1, concurrent: 20, scope: "Replica" } },
      ["rateLimit.tokensPerMinute.max"],
    ],
    ["that has a larger one that no policy asks for", { budgets: [...budgets(20, 20), weekly(30)] }, []],
    ["that drops one that no policy asks for", { budgets: budgets(20, 20) }, []],
    ["that has a smaller budget, too large still", { budgets: budgets(20, 19) }, []],
    ["that has a larger budget beside a smaller one", { budgets: budgets(1, 21) }, ["budgets"]],
    ["that leaves its budgets to the policy", { budgets: [] }, []],
    ["that has its periods begin elsewhere", { budgets: budgets(20, 20, "Europe/Berlin") }, []],
    ["that is only warned", { budgets: budgets(20, 20).map((one) => ({ ...one, onExhausted: "Alert" as const })) }, []],
    ["that asks for more calls", { rateLimit: limits(20, 21) }, ["rateLimit.concurrent.max"]],
  ])("b148, b162: %s is judged by what it adds", ([, after, rules]) => {
    expect(rulesBroken(after)).toEqual(rules);
  });
});

describe("what holds of a key that was made before its policies", () => {
  const hold = (rules: object, since: number, spec = {}) => {
    const team = { policies: [policyOf(rules, since)], unreadable: [] };
    return holdMadeKey(made(spec), stored(), team, FACTS);
  };

  test("is a deadline for what no number puts right", () => {
    const held = hold({ allowedScopes: ["memory:write"] }, NOW);
    expect(held.policy.expiresAt).toBe(NOW + 7 * DAY);
    expect(isHeldSo(held, stored())).toBe(false);
    expect(isHeldSo(held, storedKey({ ...stored(), policy: held.policy }))).toBe(true);
  });

  test("is a life within the longest interval of rotations, no sooner than that is due", () => {
    const { keptEnds, expiresAfter } = hold({ rotation: { maxInterval: "24h" } }, NOW);
    expect(expiresAfter).toBe(DAY);
    expect(keptEnds).toEqual([{ number: 1, expiresAt: NOW + 7 * DAY }]);
  });

  test("is nothing where there are none", () => {
    expect(isHeldSo(holdMadeKey(made(), stored(), { policies: [], unreadable: [] }, FACTS), stored())).toBe(true);
  });

  test("b166: stays as it was while a policy cannot be read: a deadline, a bound, and what readable ones ask", () => {
    const held = holdMadeKey(
      made({ rateLimit: limits(20, 20) }),
      stored(),
      {
        policies: [policyOf({ allowedScopes: ["memory:write"], rateLimit: { concurrent: { max: 3 } } }, NOW - 8 * DAY)],
        unreadable: [],
      },
      FACTS,
    );
    expect(held.policy).toMatchObject({ expiresAt: NOW - DAY, concurrent: 3 });
    const before = storedKey({ ...stored(), policy: held.policy });
    const unreadable = { policies: [], unreadable: ["uid"] };
    const asked = made({ rateLimit: limits(20, 20) });
    expect(isHeldSo(holdMadeKey(asked, before, unreadable, FACTS), before)).toBe(true);
    const another = policyOf({ rateLimit: { concurrent: { max: 2 } } }, NOW - 8 * DAY);
    const tighter = holdMadeKey(asked, before, { ...unreadable, policies: [another] }, FACTS);
    expect(tighter.policy).toMatchObject({ expiresAt: NOW - DAY, concurrent: 2 });
  });

  test("b131: a new version lives as long as the one before while a policy cannot be read", () => {
    const team = { policies: [], unreadable: ["uid"] };
    const key = stored(NOW + DAY);
    const life = NOW + DAY - (key.versions[0]?.mintedAt ?? 0);
    expect(lifeOfNext(made(), key, team, FACTS)).toBe(life);
    expect(lifeOfNext(made({ expiresAfter: "1h" }), key, team, FACTS)).toBe(DAY / 24);
  });
});

function limits(
  requestsPerMinute: number,
  concurrent: number,
  tokensPerMinute = 20,
): NonNullable<MadeKey["spec"]["rateLimit"]> {
  return { requestsPerMinute, burst: 1, concurrent, tokensPerMinute, scope: "Replica" };
}

/** No policy asks for one. */
const weekly = (tokens: number) => ({ tokens, period: "Week", timeZone: "UTC", onExhausted: "Refuse" }) as const;

function budgets(daily: number, monthly: number, timeZone = "UTC"): NonNullable<MadeKey["spec"]["budgets"]> {
  const more = { timeZone, onExhausted: "Refuse" } as const;
  return [
    { tokens: daily, period: "Day", ...more },
    { tokens: monthly, period: "Month", ...more },
  ];
}
