import { expect, test } from "vitest";
import { DEFAULT_OVERLAP, overlapLimit } from "../../../../domain/key/declaration/declared-key.ts";
import { boundLife } from "../../../../domain/key/policies/bound-life.ts";
import { declarePolicy } from "../../../../domain/key/policies/declared-policy.ts";
import type { TeamPolicy } from "../../../../domain/key/policies/team-policies.ts";
import type { StoredVersion } from "../../../../domain/key/stored/stored-key.ts";
import { DAY, NOW } from "../../rule-table.ts";
import { declare } from "../exploration/world.ts";
import { KEY, retiring, storedKey, version, versions } from "../situations.ts";

const GRACE = 7 * DAY;
const OVERLAP = overlapLimit(DEFAULT_OVERLAP);

function policy(expiry: object, since: number | null = NOW): TeamPolicy {
  return {
    ...declarePolicy("one", { teamSelector: {}, gracePeriod: "168h", expiry }),
    since: since === null ? {} : { "expiry.max": since, "expiry.default": since },
  };
}

/** The ends of a key's versions, and what else becomes of it. */
function bound(policies: readonly TeamPolicy[], list: readonly StoredVersion[], declared: object = {}, now = NOW) {
  const life = boundLife(declare(declared), storedKey({ ...KEY, versions: versions(...list) }), policies, now);
  const ends = list.map((one) => {
    const kept = life.keptEnds.find(({ number }) => number === one.number);
    return kept === undefined ? one.mintedAt + (life.expiresAfter ?? Number.NaN) : kept.expiresAt;
  });
  return { ...life, ends };
}

const OLD = version(1, { mintedAt: NOW - 365 * DAY });
const MAX = { max: "2160h" };

test("b126: a version that is older than a rule allows is not ended before the deadline, and its end is known ahead", () => {
  const { expiresAfter, ends, rotationInterval } = bound([policy(MAX)], [OLD]);
  expect(ends).toEqual([NOW + GRACE + OVERLAP]);
  expect(expiresAfter).toBe(90 * DAY);
  expect(rotationInterval).toBeNull();
});

test("b126: an end that a team writes as the policy asks ends no version before the deadline", () => {
  const declared = { expiresAfter: 90 * DAY };
  const cut = bound([policy(MAX)], [OLD], declared);
  expect(cut.ends).toEqual([NOW + GRACE + OVERLAP]);
  expect(bound([policy(MAX)], [{ ...OLD, expiresAt: cut.ends[0] ?? null }], declared).ends).toEqual(cut.ends);
});

test("a generated key is rotated once the rule is due, and its old version has the overlap then", () => {
  const old = { ...OLD, expiresAt: NOW + OVERLAP };
  const { ends, rotationInterval } = bound([policy(MAX, NOW - GRACE)], [old]);
  expect(ends).toEqual([NOW + OVERLAP]);
  expect(rotationInterval).toBe(90 * DAY - OVERLAP);
  const after = bound(
    [policy(MAX, NOW - GRACE)],
    [version(2, { mintedAt: NOW, expiresAt: NOW + 90 * DAY }), retiring(1, OVERLAP, old)],
  );
  expect(after.ends).toEqual([NOW + 90 * DAY, NOW + OVERLAP]);
  expect(after.rotationInterval).toBeNull();
});

test("an imported key, which cannot be rotated, ends at the deadline", () => {
  const imported = { ...OLD, imported: true };
  expect(bound([policy(MAX)], [imported]).ends).toEqual([NOW + GRACE]);
  expect(bound([policy(MAX, NOW - GRACE)], [imported]).rotationInterval).toBeNull();
});

test("a version that is young at the deadline ends as old as the rule lets it become", () => {
  expect(bound([policy({ default: "720h" })], [version(1)]).ends).toEqual([NOW + 20 * DAY]);
});

test("a version's own end before the deadline stays", () => {
  const own = { ...OLD, expiresAt: NOW + DAY };
  expect(bound([policy(MAX)], [own], { expiresAfter: 366 * DAY }).ends).toEqual([NOW + DAY]);
});

test("a version within the rules cannot get an end beyond them", () => {
  const own = version(1, { expiresAt: NOW + DAY });
  expect(bound([policy(MAX)], [own]).ends).toEqual([NOW + 80 * DAY]);
  expect(bound([policy(MAX)], [own], { expiresAfter: 400 * DAY }).ends).toEqual([NOW + 80 * DAY]);
});

test("before it is known since when a rule holds, an end stays where it is", () => {
  expect(bound([policy(MAX, null)], [OLD]).ends).toEqual([null]);
  expect(bound([policy(MAX, null)], [{ ...OLD, expiresAt: NOW - DAY }]).ends).toEqual([NOW - DAY]);
});

test("a longer grace period moves the end that the shorter one had set", () => {
  const cut = { ...OLD, expiresAt: NOW + GRACE + OVERLAP };
  const longer = { ...policy(MAX), gracePeriod: 2 * GRACE };
  expect(bound([longer], [cut]).ends).toEqual([NOW + 2 * GRACE + OVERLAP]);
});

test("of several policies each holds from its own deadline on", () => {
  const strict = policy({ max: "4800h" }, NOW - 30 * DAY);
  const fresh = policy(MAX);
  const old = version(1, { mintedAt: NOW - 190 * DAY });
  expect(bound([strict, fresh], [old]).ends).toEqual([NOW + GRACE + OVERLAP]);
  expect(bound([strict], [{ ...OLD, expiresAt: null }]).ends).toEqual([NOW - 23 * DAY + OVERLAP]);
});
