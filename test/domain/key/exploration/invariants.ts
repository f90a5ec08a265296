/** What must be true of every world and of every step from one to the next, as architecture §2 numbers it. */
import type { VersionState } from "../../../../domain/access/key-record.ts";
import { DEFAULT_OVERLAP, overlapLimit } from "../../../../domain/key/declaration/declared-key.ts";
import { type StoredVersion, versionIn } from "../../../../domain/key/stored/stored-key.ts";
import { type Rests, settle, usableInSecret } from "./explore.ts";
import { isMintedAndUnowned, plan, STRANGER, type World } from "./world.ts";

const ENDED: ReadonlySet<VersionState> = new Set<VersionState>(["retired", "voided", "revoked"]);

/**
 * What a world violates.
 *
 * @param rests of the worlds that were looked at before, to which this one's is added
 */
export function violatedIn(world: World, rests: Rests): string | undefined {
  for (const key of world.keys) {
    const count = (state: VersionState) => key.versions.filter((version) => version.state === state).length;
    if (count("active") > 1) return "I1: two active versions";
    if (count("retiring") > 4) return "I1: five retiring versions";
    if (count("reserved") > 4) return "five reservations";
    if (key.versions.some((version) => version.digest === STRANGER)) return "I3: a hash was learned from a Secret";
    const active = versionIn(key, "active");
    if (active !== undefined && !world.delivered.includes(active.digest))
      return "I2: active without having been delivered";
    const wasActive = ({ state, activatedAt }: StoredVersion) =>
      activatedAt !== null && (state === "retiring" || state === "retired");
    if (key.state !== "revoked" && active === undefined && key.versions.some(wasActive)) {
      return "I2: the old version retires without a successor";
    }
  }
  const rest = settle(world, rests, wrongAtRest);
  return rest === undefined ? "I8: never comes to rest" : rest.wrong;
}

function wrongAtRest(rest: World): string | undefined {
  const { declaration, secret, now } = rest;
  const owned = rest.keys.filter((key) => key.ownerUid !== null && key.state !== "revoked");
  if (declaration === null) return owned.length > 0 ? "I8: a key outlives its declaration" : undefined;
  if (owned.length > 1) return "I8: two living keys for one declaration";
  const key = rest.keys.findLast((other) => other.ownerUid === declaration.uid);
  const { declared } = declaration;
  const old = key?.versions.filter(({ state }) => state === "retiring").length ?? 0;
  const ready = plan(rest)?.conditions.find(({ type }) => type === "Ready");
  const heldBack = old === 4 && ready?.reason === "SecretContested";
  const waitsForSlot = old > 0 && usableInSecret(rest, ["reserved"]);
  const mayBeAtRestWithout =
    heldBack ||
    waitsForSlot ||
    declared.state !== "Active" ||
    declaration.teamId === null ||
    (declared.expiresAt !== null && declared.expiresAt <= now) ||
    (secret !== null && (isUnmanaged(rest, declaration.uid) || secret.immutable)) ||
    (secret !== null && !declared.secret.healTampered) ||
    (key?.state === "revoked" && key.revocation?.reason !== "Moved");
  return mayBeAtRestWithout || usableInSecret(rest) ? undefined : "I8: at rest with no working key in the Secret";
}

function isUnmanaged({ secret, keys }: World, uid: string | undefined): boolean {
  return secret !== null && secret.owner !== uid && !isMintedAndUnowned(secret, keys);
}

/** What a step from one world to the next violates. */
export function violatedBetween(from: World, to: World, by: string): string | undefined {
  for (const key of from.keys) {
    const after = to.keys.find((other) => other.id === key.id);
    if (after === undefined) return "I5: a key was forgotten";
    if (key.state === "revoked" && after.state !== "revoked") return "I5: a revoked key came back";
    for (const version of key.versions) {
      const later = after.versions.find((other) => other.number === version.number);
      if (ENDED.has(version.state) && !ENDED.has(later?.state ?? "retired")) return "I5: an ended version came back";
    }
  }
  if (by === "step" && voidedEarly(from, to)) return "a reservation was voided while its secret may be on its way";
  const endedEarly = endedInUse(from, to) ?? endedUnannounced(from, to);
  if (endedEarly !== undefined) return endedEarly;
  const ours = by === "step" || by.startsWith("write") || by.startsWith("delayed") || by.includes("effect");
  if (ours && isUnmanaged(from, from.declaration?.uid) && to.secret !== from.secret && from.declaration !== null)
    return "I7: an unmanaged Secret was touched";
  const released = from.keys.find((key) => key.ownerUid === null && key.state !== "revoked");
  const keepsReleased =
    released?.versions.some(({ digest, state }) => digest === from.secret?.value && !ENDED.has(state)) ?? false;
  if (ours && keepsReleased && to.secret !== from.secret) return "I6: the Secret of a released key was touched";
  if (ours && from.declaration?.deleting && to.declaration === null) {
    const left = to.keys.filter((key) => key.ownerUid === from.declaration?.uid && key.state !== "revoked");
    if (left.length > 0) return "I6: the finalizer went before the revocation";
  }
  return undefined;
}

/** Whether a reservation is voided, with nothing activated, less than a minute after the next one was made. */
function voidedEarly(from: World, to: World): boolean {
  return from.keys.some((key) => {
    const after = to.keys.find((other) => other.id === key.id);
    if (after === undefined || versionIn(after, "active")?.number !== versionIn(key, "active")?.number) return false;
    const reserved = key.versions.filter(({ state }) => state === "reserved").toReversed();
    return reserved.some((one, i) => {
      const isVoided = after.versions.some(({ number, state }) => number === one.number && state === "voided");
      return isVoided && after.ownerUid !== null && from.now < (reserved[i + 1]?.mintedAt ?? from.now) + 60_000;
    });
  });
}

/**
 * An old version that ends before its deadline, though that was not requested: its successor has been used, and it
 * has not been used itself within `quiet` of what the replicas had reported, uses that died with a replica among them.
 */
function endedInUse(from: World, to: World): string | undefined {
  for (const key of from.keys) {
    const after = to.keys.find((other) => other.id === key.id);
    const askedAt = key.rotationRequest?.at ?? Number.NEGATIVE_INFINITY;
    const isAsked = askedAt > (versionIn(key, "active")?.mintedAt ?? Number.POSITIVE_INFINITY);
    if (after === undefined || isAsked) continue;
    for (const { number, digest, state, retireAt } of key.versions) {
      const later = after.versions.find((other) => other.number === number);
      if (state !== "retiring" || later?.state !== "retired" || from.now >= (retireAt ?? 0)) continue;
      const overlap = from.declaration?.declared.overlap;
      if (overlap?.mode !== "Adoption")
        return "I2: an old version ended before its deadline, with no adoption declared";
      const newer = new Set(key.versions.filter((other) => other.number > number).map((other) => other.digest));
      if (!from.uses.some((use) => newer.has(use.digest)))
        return "I2: an old version ended before a newer one was used";
      const windowEnd = from.writtenUntil;
      const inUse = from.uses.some(
        ({ at, fate, ...use }) =>
          use.digest === digest && at > windowEnd - overlap.quiet && (at < windowEnd || fate === "written"),
      );
      if (inUse) return "an old version ended though it was used within quiet";
      const delivered = from.keys.flatMap(({ versions }) => versions).findLast((other) => newer.has(other.digest));
      if (from.now < (delivered?.activatedAt ?? 0) + overlap.min) return "an old version ended before min";
    }
  }
  return undefined;
}

/**
 * A version that was in the Secret and ends, or is to end, before the declared overlap is over, though no person has
 * asked for that: a workload may have read it.
 */
function endedUnannounced(from: World, to: World): string | undefined {
  for (const key of from.keys) {
    const after = to.keys.find((other) => other.id === key.id);
    const active = versionIn(key, "active");
    const isAsked = key.rotationRequest !== null && key.rotationRequest.at > (active?.mintedAt ?? -1);
    if (after === undefined || after.state === "revoked" || isAsked) continue;
    const overlapEnd = from.now + overlapLimit(from.declaration?.declared.overlap ?? DEFAULT_OVERLAP);
    for (const { number, digest, state } of key.versions) {
      if (!from.delivered.includes(digest) || (state !== "reserved" && state !== "active")) continue;
      const later = after.versions.find((other) => other.number === number);
      if (later === undefined || ENDED.has(later.state)) return "I2: what was in the Secret ended without its overlap";
      if (later.state === "retiring" && (later.retireAt ?? 0) < overlapEnd)
        return "I2: what was in the Secret has less than its overlap";
    }
  }
  return undefined;
}
