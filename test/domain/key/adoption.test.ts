import { describe, expect, test } from "vitest";
import { adoptedVersion, nextAdoptionLook } from "../../../domain/key/adoption.ts";
import type { Overlap } from "../../../domain/key/declared-key.ts";
import type { KnownUsage } from "../../../domain/key/known-usage.ts";
import type { ObservedKey } from "../../../domain/key/observed-key.ts";
import { planKey } from "../../../domain/key/plan-key.ts";
import { dependsOnUsage, staleUse } from "../../../domain/key/stale-consumers.ts";
import type { StoredKey, StoredVersion } from "../../../domain/key/stored-key.ts";
import { HOUR, observe, ownedKey, plan, rotated, type World } from "./exploration/world.ts";

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

describe("StaleConsumers", () => {
  const condition = (now: number, known: KnownUsage | null, world?: World, more: Partial<ObservedKey> = {}) => {
    const { observed: seen } = observed(known, world);
    return planKey({ ...seen, ...more }, now).conditions.find(({ type }) => type === "StaleConsumers");
  };

  test("is False while nothing is known to use an old version beyond its time", () => {
    expect(condition(0, null)?.status).toBe("False");
    expect(condition(HOUR - 1, usage({ 1: HOUR - 1 }, HOUR))?.status, "within min").toBe("False");
    expect(condition(HOUR, usage({ 1: HOUR - QUIET, 2: 0 }, HOUR))?.status).toBe("False");
  });

  test("says beyond min who holds the overlap up", () => {
    const stale = condition(HOUR, usage({ 1: HOUR - 1_000, 2: 0 }, HOUR));
    expect(stale).toMatchObject({ status: "True", reason: "OldVersionInUse" });
    expect(stale?.message).toContain(
      'is used, last at 1970-01-01T00:59:59Z from 192.0.2.7 with User-Agent "agent/1". It ends at 1970-01-01T03:00:00Z.',
    );
  });

  test("tells a last use that moves on anew after ten minutes, and not before", () => {
    const told = { version: 1, at: HOUR, address: "::1", userAgent: null };
    const use = (at: number) => {
      const { observed: seen, key } = observed(usage({ 1: at, 2: 0 }, at));
      return staleUse({ ...seen, reportedUse: told }, key, at)?.use;
    };
    expect(use(HOUR + QUIET - 1)).toEqual(told);
    expect(use(HOUR + QUIET)).toMatchObject({ at: HOUR + QUIET, address: "192.0.2.7" });
  });

  test("says of a version that ended although it was in use who used it last, until the next rotation is through", () => {
    const end = 3 * HOUR;
    const ended = (lastUsedAt: number | null, retireAt: number | null, newer: readonly StoredVersion[] = []) => {
      const world = rotated(ADOPTION);
      const first = { ...version(1, "retired"), lastUsedAt, retireAt };
      const keys = world.keys.map((key) => ({ ...key, versions: [...newer, version(2, "active"), first] }));
      return { ...world, keys };
    };
    const inUse = ended(end - 1_000, end);
    const stale = condition(end, usage({ 1: end - 1_000 }, end), inUse);
    expect(stale).toMatchObject({ status: "True", reason: "EndedInUse" });
    expect(stale?.message).toContain("last at 1970-01-01T02:59:59Z from 192.0.2.7");
    expect(condition(end, null, ended(end - QUIET, end))?.status, "unused for quiet").toBe("False");
    expect(condition(end, null, ended(end - 1_000, null))?.status, "ended by somebody's decision").toBe("False");
    expect(condition(end, null, ended(null, end))?.status, "never used").toBe("False");

    const next = (state: StoredVersion["state"], retireAt: number | null) =>
      condition(end, null, {
        ...inUse,
        keys: inUse.keys.map((key) => ({
          ...key,
          versions: [version(3, "active"), { ...version(2, state), retireAt }, ...key.versions.slice(1)],
        })),
      })?.status;
    expect(next("retiring", 4 * HOUR)).toBe("True");
    expect(next("retired", 4 * HOUR)).toBe("False");
    expect(next("retired", null)).toBe("False");
    expect(next("retired", 2 * HOUR), "a later version that ended earlier").toBe("True");
  });

  test("costs no question where there is nothing to be known", () => {
    const asks = (world: World) => {
      const { observed: seen, key } = observed(null, world);
      return dependsOnUsage(seen.declared, key);
    };
    expect(asks(rotated(ADOPTION))).toBe(true);
    expect(asks(rotated({ mode: "Fixed", duration: HOUR }))).toBe(false);
    expect(asks(rotated({ ...ADOPTION, max: 0 }))).toBe(false);
    expect(plan(rotated({ ...ADOPTION, max: 0 }))?.requeueAt).toBe(Number.POSITIVE_INFINITY);
  });
});
