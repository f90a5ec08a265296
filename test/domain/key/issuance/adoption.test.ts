import { describe, expect, test } from "vitest";
import type { Overlap } from "../../../../domain/key/declaration/declared-key.ts";
import { adoptedVersion, nextAdoptionLook } from "../../../../domain/key/issuance/adoption.ts";
import type { ObservedKey } from "../../../../domain/key/observed/observed-key.ts";
import { planKey } from "../../../../domain/key/plan/plan-key.ts";
import type { KnownUsage } from "../../../../domain/key/stored/known-usage.ts";
import type { StoredKey, StoredVersion } from "../../../../domain/key/stored/stored-key.ts";
import { HOUR, observe, ownedKey, rotated, type World } from "../exploration/world.ts";

const MINUTE = 60_000;
const QUIET = 10 * MINUTE;
const ADOPTION: Overlap = { mode: "Adoption", min: HOUR, max: 3 * HOUR, quiet: QUIET };

type Uses = Readonly<Record<number, number>>;

/** The last use of each version, all of it known up to `knownUntil`. */
function usage(uses: Uses, knownUntil: number | null, more: Partial<KnownUsage> = {}): KnownUsage {
  const lastUses = Object.entries(uses).map(([version, at]) => ({
    version: Number(version),
    at,
    address: "192.0.2.7",
    userAgent: "agent/1",
  }));
  return { now: knownUntil ?? 0, knownUntil, lostUntil: null, lastUses, ...more };
}

function observed(known: KnownUsage | null, world = rotated(ADOPTION)): { observed: ObservedKey; key: StoredKey } {
  const { declaration } = world;
  const key = declaration && ownedKey(world, declaration.uid);
  if (declaration === null || key == null) throw new Error("the world has a key");
  return { observed: { ...observe(world, declaration), usage: known }, key };
}

const adopted = (now: number, known: KnownUsage | null, world?: World) => {
  const { observed: seen, key } = observed(known, world);
  return adoptedVersion(seen, key, now)?.number;
};
const requeueAfterMs = (now: number, known: KnownUsage | null, world?: World) => {
  const { observed: seen, key } = observed(known, world);
  return nextAdoptionLook(seen, key, now) - now;
};

describe("an old version in an overlap by adoption", () => {
  const left = usage({ 1: 30 * MINUTE, 2: 31 * MINUTE }, HOUR);

  test("ends once min is over, the new one has been used and it has itself been unused for quiet", () => {
    expect(adopted(HOUR, left)).toBe(1);
    expect(adopted(HOUR - 1, left), "before min").toBeUndefined();
    expect(adopted(HOUR, usage({ 1: 30 * MINUTE }, HOUR)), "the new one unused").toBeUndefined();
    expect(adopted(HOUR, usage({ 1: HOUR - QUIET + 1, 2: 0 }, HOUR)), "used within quiet").toBeUndefined();
    expect(adopted(HOUR, usage({ 1: HOUR - QUIET, 2: 0 }, HOUR))).toBe(1);
  });

  test("that was never used ends too, but not before it could have been for quiet", () => {
    const world = rotated({ ...ADOPTION, min: 0 });
    expect(adopted(QUIET - 1, usage({ 2: 0 }, QUIET - 1), world)).toBeUndefined();
    expect(adopted(QUIET, usage({ 2: 0 }, QUIET), world)).toBe(1);
  });

  test("goes on while a replica has not said what it has written, and after one that died, for quiet again", () => {
    expect(adopted(2 * HOUR, { ...left, knownUntil: null })).toBeUndefined();
    expect(adopted(2 * HOUR, null)).toBeUndefined();
    expect(adopted(2 * HOUR, { ...left, knownUntil: 40 * MINUTE - 1 })).toBeUndefined();
    const afterDeath = (knownUntil: number) => ({ ...left, lostUntil: HOUR, knownUntil });
    expect(adopted(2 * HOUR, afterDeath(HOUR + QUIET - 1))).toBeUndefined();
    expect(adopted(2 * HOUR, afterDeath(HOUR + QUIET))).toBe(1);
  });

  test("is judged by the database's clock alone, whatever the controller's says", () => {
    const day = 24 * HOUR;
    const inUse = usage({ 1: day, 2: day }, day + QUIET - 1);
    expect(adopted(2 * HOUR, inUse)).toBeUndefined();
    expect(adopted(2.9 * HOUR, usage({ 1: -day, 2: -day }, QUIET - day))).toBe(1);
  });

  test("ends at max whatever happens, with a fixed overlap then alone", () => {
    const now = 3 * HOUR;
    expect(planKey(observed(usage({ 1: now }, null)).observed, now).action.do).toBe("Retire");
    const fixed = rotated({ mode: "Fixed", duration: 3 * HOUR });
    expect(adopted(2 * HOUR, left, fixed)).toBeUndefined();
    expect(requeueAfterMs(2 * HOUR, left, fixed)).toBe(Number.POSITIVE_INFINITY);
  });

  test("is looked at when min is over, then at the earliest moment at which it could have been left", () => {
    expect(requeueAfterMs(20 * MINUTE, left)).toBe(40 * MINUTE);
    expect(requeueAfterMs(HOUR, usage({ 1: HOUR, 2: 0 }, HOUR))).toBe(QUIET);
    expect(requeueAfterMs(HOUR, usage({ 1: HOUR - 7 * MINUTE, 2: 0 }, HOUR))).toBe(3 * MINUTE);
    expect(requeueAfterMs(HOUR, usage({ 1: HOUR - QUIET + 1, 2: 0 }, HOUR)), "a little more is missing").toBe(MINUTE);
    expect(requeueAfterMs(HOUR, usage({ 1: 0 }, HOUR)), "until the new one is used").toBe(MINUTE);
    expect(requeueAfterMs(HOUR, null), "until it is known").toBe(MINUTE);
  });
});

test("of two old versions the one that is left ends, the other goes on", () => {
  const world = rotated(ADOPTION);
  const keys = world.keys.map((key) => ({
    ...key,
    versions: [version(3, "active"), ...key.versions.map((one) => ({ ...one, ...version(one.number, "retiring") }))],
  }));
  const two = { ...world, keys };
  expect(adopted(HOUR, usage({ 1: HOUR, 2: 0, 3: 0 }, HOUR), two)).toBe(2);
  expect(adopted(HOUR, usage({ 1: 0, 2: HOUR }, HOUR), two), "a newer one is used").toBe(1);
  expect(adopted(HOUR, usage({ 1: 0, 2: 0 }, HOUR), two)).toBe(1);
  expect(adopted(HOUR, usage({ 2: 0 }, HOUR), two), "version 3 is unused").toBe(1);
  expect(adopted(HOUR, usage({ 1: 0 }, HOUR), two), "none that is newer is used").toBeUndefined();
});

function version(number: number, state: StoredVersion["state"]): StoredVersion {
  return {
    number,
    digest: `digest/${number}`,
    prefix: "inf_AbCdEfGh",
    imported: false,
    state,
    mayBeRead: true,
    mintedAt: 0,
    activatedAt: 0,
    retireAt: state === "active" ? null : 3 * HOUR,
    expiresAt: null,
    rotationTrigger: "now",
    heals: null,
    lastUsedAt: null,
    leakedAt: null,
  };
}
