import { describe, expect, test } from "vitest";
import {
  type AppliedParts,
  type AppliedRotation,
  DEFAULT_OVERLAP,
  type NamedRef,
} from "../../../../domain/key/declaration/declared-key.ts";
import { declareDelivery, declareKey } from "../../../../domain/key/fields/declare-key.ts";
import { declarePolicy } from "../../../../domain/key/policies/declared-policy.ts";
import { holdToPolicies } from "../../../../domain/key/policies/hold-to-policies.ts";
import { type RuleName, rulesOf } from "../../../../domain/key/policies/rules-in-force.ts";
import type { StoredKey } from "../../../../domain/key/stored/stored-key.ts";
import { DAY, NOW } from "../../rule-table.ts";
import { KEY, storedKey, version, versions } from "../situations.ts";
import { checkedSpec } from "./checked-spec.ts";

const GRACE = 7 * DAY;

type Case = {
  readonly key?: object;
  readonly rules: object;
  readonly stored?: Partial<StoredKey["policy"]> | null;
  readonly expiresAt?: number | null;
  /** End of the version before, which has an overlap. */
  readonly oldExpiresAt?: number;
  /** When the rules came to hold; null while that is not known. */
  readonly since?: number | null;
  readonly unreadable?: readonly string[];
  readonly isApplied?: boolean;
  readonly applied?: AppliedRotation | AppliedParts;
  readonly boundTo?: NamedRef;
  readonly isUnread?: boolean;
};

/** What becomes of a key that was minted ten days ago with the policy `stored`. */
function hold({ key = {}, rules, stored = {}, expiresAt = null, oldExpiresAt, since = NOW, ...more }: Case) {
  const policySpec = checkedSpec("PlatformKeyPolicy", { teamSelector: {}, gracePeriod: "168h", ...rules });
  const names: readonly RuleName[] = [...rulesOf(policySpec).keys()];
  const policy = {
    ...declarePolicy("one", policySpec),
    since: since === null ? {} : Object.fromEntries(names.map((rule) => [rule, since])),
  };
  const old = oldExpiresAt === undefined ? [] : [version(0, { state: "retiring", expiresAt: oldExpiresAt })];
  const row =
    stored === null
      ? undefined
      : storedKey({
          ...KEY,
          policy: { ...KEY.policy, scopes: ["memory:read"], allowedModels: null, ...stored },
          versions: versions(version(1, { expiresAt }), ...old),
        });
  const declared = declareKey("ns", "key", checkedSpec("PlatformKey", { scopes: ["memory:read"], ...key }));
  const { secret, restartTargets } = declared;
  return holdToPolicies({
    declared,
    stored: row,
    boundTo: more.boundTo ?? null,
    isUnread: more.isUnread,
    team: { policies: [policy], unreadable: more.unreadable ?? [] },
    isApplied: more.isApplied ?? true,
    applied: more.applied === undefined ? null : { secret, restartTargets, ...more.applied },
    keysBefore: null,
    now: NOW,
  });
}

describe("a new key", () => {
  test("that breaks a rule is refused, also within the grace period", () => {
    const { verdict } = hold({ stored: null, rules: { allowedScopes: ["memory:write"] } });
    expect(verdict.refused).toEqual([
      "spec.scopes: memory:read may not be given: write none but memory:write (PlatformKeyPolicy one).",
    ]);
  });

  test("has the defaults from its first version on", () => {
    const rules = { expiry: { default: "48h" }, rateLimit: { concurrent: { default: 3 } } };
    const { effective, verdict } = hold({ stored: null, rules, since: null });
    expect(effective).toMatchObject({ expiresAfter: 2 * DAY, concurrent: 3 });
    expect(verdict.refused).toEqual([]);
  });
});

test("the requests that a policy gives a key are counted where its tokens are", () => {
  const rateLimit = { tokensPerMinute: 9_000, scope: "Installation" };
  const rules = { rateLimit: { requestsPerMinute: { default: 60 } } };
  for (const stored of [null, {}]) {
    const { effective } = hold({ key: { rateLimit }, rules, stored, since: NOW - 30 * DAY });
    expect(effective.rateLimit).toEqual({ requestsPerMinute: 60, burst: 60, scope: "Installation" });
  }
});

test("the tokens that a policy gives a key are counted where its requests are", () => {
  const rateLimit = { requestsPerMinute: 60, scope: "Installation" };
  const rules = { rateLimit: { tokensPerMinute: { default: 9_000 } } };
  for (const stored of [null, {}]) {
    const { effective } = hold({ key: { rateLimit }, rules, stored, since: NOW - 30 * DAY });
    expect(effective.tokenLimit).toEqual({ tokensPerMinute: 9_000, scope: "Installation" });
  }
});

describe("b148: budgets that a policy asks for", () => {
  const budget = (tokens: number, more: object = {}) => ({
    ...{ tokens, period: "Month", timeZone: "UTC", onExhausted: "Refuse" },
    ...more,
  });
  const RULES = { budgets: [{ tokens: 100, period: "Month", timeZone: "Europe/Berlin" }] };
  const asked = (tokens: number, more: object = {}) => ({ key: { budgets: [{ tokens, period: "Month", ...more }] } });

  test("are a new key's own, beside those of other periods, and in the place of one that refuses nothing", () => {
    const own = {
      budgets: [
        { tokens: 7, period: "Day" },
        { tokens: 90, period: "Month", onExhausted: "Alert" },
      ],
    };
    const { effective, verdict } = hold({ key: own, rules: RULES, stored: null });
    expect(verdict.refused).toEqual([]);
    expect(effective.budgets).toEqual([budget(7, { period: "Day" }), budget(100, { timeZone: "Europe/Berlin" })]);
  });

  test("leave a new key a smaller one, and refuse it a larger", () => {
    const small = hold({ ...asked(60), rules: RULES, stored: null });
    expect([small.effective.budgets, small.verdict.refused]).toEqual([[budget(60)], []]);
    expect(hold({ ...asked(101), rules: RULES, stored: null }).verdict.refused).toEqual([
      "spec.budgets: a key has a budget of at most 100 tokens a month (Europe/Berlin): write at most 100 tokens (PlatformKeyPolicy one).",
    ]);
  });

  test("hold of a key that was issued once the grace period is over, as do tokens a minute", () => {
    const rules = { ...RULES, rateLimit: { tokensPerMinute: { default: 5, max: 10 } } };
    const before = hold({ rules });
    expect([before.effective.budgets, before.effective.tokenLimit]).toEqual([null, null]);
    expect(before.verdict.bounded).toEqual([
      "spec.rateLimit.tokensPerMinute: none is declared, and 5 tokens a minute come to hold.",
      "spec.budgets: none is declared of that kind, and 100 tokens a month (Europe/Berlin) come to hold.",
    ]);
    expect(before.verdict.nextAt).toBe(NOW + GRACE);
    const after = hold({ rules, since: NOW - GRACE });
    expect(after.effective.budgets).toEqual([budget(100, { timeZone: "Europe/Berlin" })]);
    expect(after.effective.tokenLimit).toEqual({ tokensPerMinute: 5, scope: "Replica" });
    expect(after.verdict.bounded).toEqual([]);
  });
});

describe("a key that was issued", () => {
  test("works on until the grace period is over, and ends then", () => {
    const { effective, verdict } = hold({ rules: { allowedScopes: ["memory:write"] } });
    expect(verdict.endsAt).toBe(NOW + GRACE);
    expect(effective.expiresAt).toBe(NOW + GRACE);
    expect(verdict.ends).toHaveLength(1);
  });

  test("has no deadline before it is known since when the rule holds", () => {
    const { effective, verdict } = hold({ rules: { allowedScopes: ["memory:write"] }, since: null });
    expect([verdict.endsAt, effective.expiresAt]).toEqual([null, null]);
    expect(verdict.ends).toHaveLength(1);
  });

  test("b126: keeps the end that it has while it is not known since when a rule holds", () => {
    const rules = { allowedScopes: ["memory:write"] };
    const { effective } = hold({ rules, stored: { expiresAt: NOW - DAY }, since: null });
    expect(effective.expiresAt).toBe(NOW - DAY);
    const kept = hold({ rules: { allowedScopes: ["memory:read"] }, stored: { expiresAt: NOW - DAY }, since: null });
    expect(kept.effective.expiresAt).toBeNull();
  });

  test("does not get what an edit adds against a rule, and does not end for it", () => {
    const { effective, verdict } = hold({
      key: { scopes: ["memory:read", "memory:write"] },
      rules: { allowedScopes: ["memory:read"] },
      since: NOW - 30 * DAY,
    });
    expect(verdict.notApplied).toHaveLength(1);
    expect([verdict.endsAt, effective.expiresAt]).toEqual([null, null]);
  });

  test("b126: mints nothing for an edit that is not applied, and nothing that lives as long as the edit says", () => {
    const key = { expiresAfter: "9000h", rotation: { trigger: "next", interval: "48h" } };
    const asBefore = { expiresAfter: 20 * DAY, rotationTrigger: null, rotationInterval: null };
    const kept = { rules: { allowedScopes: ["memory:read"] }, expiresAt: NOW + 10 * DAY };
    const widened = hold({ ...kept, key: { ...key, scopes: ["memory:read", "memory:write"] } });
    expect(widened.effective).toMatchObject(asBefore);
    const unreadable = ["uid"];
    expect(hold({ ...kept, key, unreadable, isApplied: false }).effective).toMatchObject(asBefore);
    const applied = hold({ ...kept, key, unreadable }).effective;
    expect(applied).toMatchObject({ expiresAfter: 20 * DAY, rotationTrigger: "next", rotationInterval: 2 * DAY });
  });

  test("b217: is rotated as the declaration has it that was applied, while an edit of it is not", () => {
    const edited = { scopes: ["memory:read", "memory:write"], rotation: { interval: "48h" } };
    const rotation = { interval: 20 * DAY, overlap: DEFAULT_OVERLAP };
    const held = { key: edited, rules: { allowedScopes: ["memory:read"] }, applied: rotation };
    expect(hold(held).effective.rotationInterval).toBe(20 * DAY);
    const rules = { ...held.rules, rotation: { maxInterval: "240h" } };
    expect(hold({ ...held, rules, since: NOW - GRACE }).effective.rotationInterval).toBe(10 * DAY);
    const unreadable = { ...held, key: { rotation: { interval: "48h" } }, unreadable: ["uid"], isApplied: false };
    expect(hold(unreadable).effective.rotationInterval).toBe(20 * DAY);
  });

  test("b220: whose edit is not applied has its old versions end by the overlap that it was issued with", () => {
    const overlap = { mode: "Fixed", duration: "0s" };
    const key = { scopes: ["memory:read", "memory:write"], rotation: { interval: "48h", overlap } };
    const applied = { interval: 20 * DAY, overlap: { mode: "Fixed", duration: 2 * DAY } } as const;
    const held = { key, rules: { allowedScopes: ["memory:read"] }, applied };
    expect(hold(held).effective.overlap).toEqual(applied.overlap);
    expect(hold({ ...held, rules: { allowedScopes: key.scopes } }).effective.overlap).toMatchObject({ duration: 0 });
  });

  test("b468: is delivered as the declaration has it that was applied, while an edit of it is not, and deleted as it is declared", () => {
    const edited = {
      scopes: ["memory:read", "memory:write"],
      secret: { template: "Env", onLost: "Report", creationPolicy: "Orphan" },
      restartTargets: [{ kind: "Deployment", name: "new" }],
      deletionPolicy: "Retain",
      deletionProtection: true,
    };
    const was = checkedSpec("PlatformKey", { scopes: ["memory:read"], secret: { template: "ServiceBinding" } });
    const applied = { interval: null, overlap: DEFAULT_OVERLAP, ...declareDelivery("key", was) };
    const held = { key: edited, rules: { allowedScopes: ["memory:read"] }, applied };
    expect(hold(held).effective).toMatchObject({
      ...{ secret: { template: "ServiceBinding", healLost: true, deleteWithKey: false }, restartTargets: [] },
      ...{ retainOnDelete: true, deletionProtection: true },
    });
    // A suspension that is applied while a policy cannot be read is no reason to deliver the key in another way.
    const suspended = { ...held, key: { ...edited, scopes: was.scopes, state: "Suspended" }, unreadable: ["uid"] };
    expect(hold(suspended).effective.secret.template).toBe("ServiceBinding");
    expect(hold({ ...held, rules: { allowedScopes: edited.scopes } }).effective).toMatchObject({
      secret: { template: "Env", healLost: false },
      restartTargets: edited.restartTargets,
    });
  });

  test("b181: while a policy cannot be read keeps what it has, with what the others ask, and the end of its version", () => {
    const asked = { expiresAfter: "240h", rateLimit: { requestsPerMinute: 600, concurrent: 20 } };
    const rules = { expiry: { max: "480h" }, rateLimit: { concurrent: { max: 3 } }, allowedScopes: ["memory:write"] };
    const rateLimit = { requestsPerMinute: 60, burst: 60, scope: "Replica" } as const;
    const unreadable = ["uid"];
    const expiresAt = NOW + 30 * DAY;
    const due = { key: asked, rules, unreadable, expiresAt, stored: { rateLimit, expiresAt }, since: NOW - GRACE };
    const { effective, verdict } = hold(due);
    expect(effective).toMatchObject({ rateLimit, concurrent: 3, expiresAt: NOW, expiresAfter: 10 * DAY });
    expect(verdict).toMatchObject({ unreadable, notApplied: [], endsAt: NOW });
    const early = hold({ ...due, rules: { expiry: { max: "48h" } }, since: NOW });
    expect(early.verdict.keptEnds).toEqual([{ number: 1, expiresAt: NOW + GRACE + DAY }]);
  });

  test("b160: ends at its deadline though an edit adds more of what the rule refuses", () => {
    const { effective, verdict } = hold({
      key: { scopes: ["memory:read", "gateway:embed"], allowedCIDRs: ["10.0.0.0/8"] },
      rules: { allowedScopes: ["memory:write"], expiry: { required: true } },
      stored: { budgets: null },
    });
    expect(verdict.notApplied).toEqual([expect.stringContaining("memory:read, gateway:embed may not be given")]);
    expect(verdict.ends).toEqual([
      expect.stringContaining("must have an end"),
      expect.stringContaining("memory:read may not be given"),
    ]);
    expect(effective).toMatchObject({ scopes: ["memory:read"], allowedCIDRs: null, expiresAt: NOW + GRACE });
  });

  test("b182: does not end for a gateway that it is not bound to, and says which one it is that ends it", () => {
    const [main, other] = [
      { namespace: "ns", name: "main" },
      { namespace: "ns", name: "other" },
    ];
    const scopes = ["gateway:generate" as const];
    const edit = { key: { scopes, gatewayRef: { name: "third" } }, boundTo: main, since: NOW - 2 * GRACE };
    const stored = { scopes, boundGatewayId: "gw_main" };
    const kept = hold({ ...edit, stored, rules: { allowedGateways: [main] } });
    expect(kept.verdict).toMatchObject({ notApplied: [expect.stringContaining("may not call ns/third")], ends: [] });
    expect(kept.effective.expiresAt).toBeNull();
    const ended = hold({ ...edit, stored, rules: { allowedGateways: [other] } });
    expect(ended.verdict.ends).toEqual([expect.stringContaining("may not call ns/main: bind it to ns/other")]);
  });

  test("b160: whose edit is not applied has none of its versions end later than it did", () => {
    const key = { scopes: ["memory:read", "gateway:embed"], expiresAfter: "9000h" };
    const rules = { allowedScopes: ["memory:read"], expiry: { max: "2400h" } };
    expect(hold({ key, rules, expiresAt: NOW + DAY, since: NOW - GRACE }).verdict.keptEnds).toEqual([
      { number: 1, expiresAt: NOW + DAY },
    ]);
    expect(hold({ key, rules, since: NOW - GRACE }).verdict.keptEnds).toEqual([
      { number: 1, expiresAt: NOW + 90 * DAY },
    ]);
  });

  test("b160: whose edit is not applied has an old version end by its own life, and not by a default or the life of the newest", () => {
    const key = { scopes: ["memory:read", "gateway:embed"] };
    const rules = { allowedScopes: ["memory:read"], expiry: { default: "48h", max: "2400h" } };
    const ends = { expiresAt: NOW + DAY, oldExpiresAt: NOW + 30 * DAY };
    const { keptEnds } = hold({ key, rules, ...ends, since: NOW - GRACE }).verdict;
    expect(keptEnds).toContainEqual({ number: 0, expiresAt: NOW + 30 * DAY });
  });

  test("is given a default once the grace period is over", () => {
    const rules = { expiry: { default: "480h" }, rateLimit: { requestsPerMinute: { default: 60 } } };
    const before = hold({ rules });
    expect(before.effective).toMatchObject({ expiresAfter: 20 * DAY, rateLimit: null });
    expect(before.verdict.bounded).toHaveLength(2);
    expect(before.verdict.nextAt).toBe(NOW + GRACE);
    const after = hold({ rules, since: NOW - GRACE });
    expect(after.effective).toMatchObject({ expiresAfter: 20 * DAY, rateLimit: { requestsPerMinute: 60 } });
    expect(after.verdict.bounded).toEqual([]);
  });

  test("keeps a default that it has while another rule has changed", () => {
    const has = { requestsPerMinute: 60, burst: 60, scope: "Replica" } as const;
    const rules = { rateLimit: { requestsPerMinute: { default: 60 } } };
    expect(hold({ rules, stored: { rateLimit: has } }).effective.rateLimit).toEqual(has);
  });

  test("has the highest rate and the longest life in place of its own once the grace period is over", () => {
    const key = { expiresAfter: "960h", rateLimit: { requestsPerMinute: 600 } };
    const stored = { rateLimit: { requestsPerMinute: 600, burst: 600, scope: "Replica" as const } };
    const rules = { expiry: { max: "480h" }, rateLimit: { requestsPerMinute: { max: 100 } } };
    const expiresAt = NOW + 30 * DAY;
    const before = hold({ key, stored, rules, expiresAt });
    expect(before.effective).toMatchObject({ expiresAfter: 20 * DAY, rateLimit: { requestsPerMinute: 600 } });
    const after = hold({ key, stored, rules, expiresAt, since: NOW - GRACE });
    expect(after.effective).toMatchObject({
      expiresAfter: 20 * DAY,
      rateLimit: { requestsPerMinute: 100, burst: 100 },
    });
    expect(after.verdict).toMatchObject({ endsAt: null, bounded: [expect.any(String), expect.any(String)] });
  });

  test("cannot raise a number beyond a rule within the grace period", () => {
    const key = { rateLimit: { requestsPerMinute: 600 } };
    const stored = { rateLimit: { requestsPerMinute: 50, burst: 50, scope: "Replica" as const } };
    const { effective } = hold({ key, stored, rules: { rateLimit: { requestsPerMinute: { max: 100 } } } });
    expect(effective.rateLimit).toMatchObject({ requestsPerMinute: 100, burst: 100 });
  });

  test("is rotated as often as the policy asks once the grace period is over", () => {
    const rules = { rotation: { maxInterval: "240h" } };
    expect(hold({ rules }).effective.rotationInterval).toBeNull();
    expect(hold({ rules, since: NOW - GRACE }).effective.rotationInterval).toBe(10 * DAY);
  });

  test("that must have an end keeps the one that it has", () => {
    const rules = { expiry: { required: true } };
    const { effective, verdict } = hold({ rules, expiresAt: NOW + DAY, since: NOW - GRACE });
    expect(effective.expiresAfter).toBe(11 * DAY);
    expect(verdict.ends).toEqual([]);
  });

  test("b126: that must have an end has none by the deadline that it was given for want of one", () => {
    const rules = { expiry: { required: true } };
    const { verdict, effective } = hold({ rules, stored: { expiresAt: NOW + GRACE } });
    expect(verdict).toMatchObject({ endsAt: NOW + GRACE, ends: [expect.stringContaining("must have an end")] });
    expect(effective.expiresAt).toBe(NOW + GRACE);
    const longer = hold({ rules: { ...rules, gracePeriod: "336h" }, stored: { expiresAt: NOW + GRACE } });
    expect([longer.verdict.endsAt, longer.effective.expiresAt]).toEqual([NOW + 2 * GRACE, NOW + 2 * GRACE]);
    const other = hold({ rules: { ...rules, gracePeriod: "336h" }, stored: { expiresAt: NOW + DAY } });
    expect(other.effective.expiresAt).toBe(NOW + 2 * GRACE);
  });

  test("that must have an end keeps a declared one that is taken away once the rule is due", () => {
    const rules = { expiry: { required: true } };
    const { verdict, effective } = hold({ rules, stored: { expiresAt: NOW + DAY }, since: NOW - GRACE });
    expect([verdict.endsAt, effective.expiresAt]).toEqual([null, NOW + DAY]);
    const ended = hold({ rules, stored: { expiresAt: NOW - DAY }, since: NOW - GRACE - DAY });
    expect(ended.verdict.endsAt).toBe(NOW - DAY);
  });

  test("has an end where a policy's longest life gives it one", () => {
    const { verdict, effective } = hold({ rules: { expiry: { required: true, max: "480h" } } });
    expect([verdict.endsAt, effective.expiresAfter]).toEqual([null, 20 * DAY]);
  });
});

test("c113: a key whose declaration cannot be read is held as it was issued", () => {
  const stored = { scopes: ["memory:write"] as const, concurrent: 9, expiresAt: NOW + 40 * DAY };
  const unread = { key: { scopes: ["memory:read"] }, stored, isUnread: true };
  const free = hold({ ...unread, rules: { allowedScopes: ["memory:write"] } });
  expect(free.effective).toMatchObject({ scopes: ["memory:write"], concurrent: 9, expiresAt: NOW + 40 * DAY });
  expect(free.verdict).toMatchObject({ notApplied: ["The declaration cannot be read."], ends: [] });
  const rules = { allowedScopes: ["memory:read"], rateLimit: { concurrent: { max: 3 } } };
  const held = hold({ ...unread, rules, since: NOW - 8 * DAY });
  expect(held.effective).toMatchObject({ scopes: ["memory:write"], concurrent: 3, expiresAt: NOW - DAY });
});
