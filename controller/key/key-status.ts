import { budgetConditions } from "../../domain/budget/budget-condition.ts";
import { findCondition } from "../../domain/conditions.ts";
import { expiryNotice } from "../../domain/key/conditions/expiry-notice.ts";
import { staleUse } from "../../domain/key/conditions/stale-consumers.ts";
import { nextRotation } from "../../domain/key/issuance/next-rotation.ts";
import { governedKey, type ObservedKey } from "../../domain/key/observed/observed-key.ts";
import type { KeyPlan } from "../../domain/key/plan/plan-key.ts";
import type { StoredKey, StoredVersion } from "../../domain/key/stored/stored-key.ts";
import { versionIn } from "../../domain/key/stored/stored-key.ts";
import { MAX_RETIRING, retiringEndsAt } from "../../domain/key/stored/version-slots.ts";
import { isRecord } from "../../domain/manifest/document/identity.ts";
import { rfc3339 } from "../../domain/rfc3339.ts";
import { mergeConditions } from "../cluster/merge-conditions.ts";
import type { DeclaredObject, ObjectStatus } from "../cluster/port.ts";
import type { KeyObservation } from "./key-observation.ts";

/** Largest number of versions that a status lists. */
const VERSIONS_SHOWN = MAX_RETIRING + 1;
/** Milliseconds between two writes of the last use to a status; the management API has it finer. */
const LAST_USED_STEP = 24 * 3_600_000;

/** Returns the status that is written back for a key. It never has more of the key's text than its prefix. */
export function keyStatus(
  { object, observed, declared, budgets, team }: KeyObservation,
  plan: KeyPlan,
  now: number,
): ObjectStatus {
  const key = governedKey(observed);
  const active = versionIn(key, "active");
  const before = object.status?.keyID === key?.id ? object.status : undefined;
  const rotation = nextRotation(observed, now);
  const ends = [declared.expiresAt, active?.expiresAt ?? null].filter((at) => at !== null);
  return withoutUndefined({
    observedGeneration: object.generation,
    keyID: key?.id,
    keyPrefix: active?.prefix ?? key?.versions[0]?.prefix,
    team,
    effectiveScopes: declared.scopes,
    secretRef: secretRef(observed, active),
    currentVersion: active?.number,
    versions: key && shownVersions(key).map((version) => versionStatus(version, before)),
    expiresAt: ends.length === 0 ? undefined : rfc3339(Math.min(...ends)),
    expiryWarned: expiryWarned(observed, key, now),
    nextRotationTime: rotation && rfc3339(rotation.at),
    lastUsedTime: lastUsedTime(Math.max(...(key?.versions ?? []).map(({ lastUsedAt }) => lastUsedAt ?? 0)), before),
    revocation: revocation(object, observed.confirmed, key, now),
    // Workloads that are named later have this version already.
    restartedVersion: (declared.restartTargets.length > 0 ? observed.restartedVersion : active?.number) ?? undefined,
    staleConsumer: staleConsumerStatus(observed, key, now),
    conditions: mergeConditions(object, [...plan.conditions, ...budgetConditions(budgets)], now),
  });
}

/** True if a status says that the key is as declared. */
export function isReady(status: ObjectStatus | undefined): boolean {
  return findCondition(status?.conditions, "Ready")?.status === "True";
}

/** True if a status says that all that is left is the confirmation by every replica: a key that was ready stays so. */
export function isConfirming({ conditions }: ObjectStatus): boolean {
  return findCondition(conditions, "Ready")?.reason === "Confirming";
}

/** Returns every version that works, and the newest of the others. */
function shownVersions({ versions }: StoredKey): StoredVersion[] {
  const works = ({ state }: StoredVersion) => state === "active" || state === "retiring";
  const others = versions.filter((version) => !works(version));
  const left = others.slice(0, VERSIONS_SHOWN - (versions.length - others.length));
  return versions.filter((version) => works(version) || left.includes(version));
}

/**
 * Returns the Secret of the key. An imported key has none before its first rotation: the Secret it was learned from is
 * not ours.
 */
function secretRef({ declared, secret }: ObservedKey, active: StoredVersion | undefined) {
  const { name, dataKey } = declared.secret;
  const isImported = active?.imported ?? declared.source.type !== "Generate";
  return isImported && secret.state !== "ours" ? undefined : { name, dataKey };
}

/** @param status status as last written for this key; undefined if it was of another key, or there is none */
function versionStatus(version: StoredVersion, status: ObjectStatus | undefined) {
  const before: unknown[] = Array.isArray(status?.versions) ? status.versions : [];
  const written = before.find((one) => isRecord(one) && one.number === version.number);
  return withoutUndefined({
    number: version.number,
    keyPrefix: version.prefix,
    state: version.state.charAt(0).toUpperCase() + version.state.slice(1),
    mintedAt: rfc3339(version.mintedAt),
    activatedAt: version.activatedAt === null ? undefined : rfc3339(version.activatedAt),
    retiresAt: version.retireAt === null ? undefined : rfc3339(retiringEndsAt(version)),
    expiresAt: version.expiresAt === null ? undefined : rfc3339(version.expiresAt),
    lastUsedTime: lastUsedTime(version.lastUsedAt ?? 0, written),
  });
}

/**
 * Returns the last use to show: the time that the status has, until the key is used a day later than that.
 *
 * @param before the part of the status that has the last use
 */
function lastUsedTime(usedAt: number, before: unknown): string | undefined {
  const written = isRecord(before) ? before.lastUsedTime : undefined;
  if (typeof written === "string" && usedAt - Date.parse(written) < LAST_USED_STEP) return written;
  return usedAt > 0 ? rfc3339(usedAt) : undefined;
}

/**
 * Returns the expiry that is near enough for a warning. The status keeps it, so that later leaders do not report it
 * again.
 */
function expiryWarned(observed: ObservedKey, key: StoredKey | undefined, now: number): string | undefined {
  const notice = key && expiryNotice(observed.declared, key, now);
  return notice !== undefined && notice.from <= now ? rfc3339(notice.expiry) : undefined;
}

/** Returns the late use that the status reports. The next plan reads it back: see `reportedUse`. */
function staleConsumerStatus(observed: ObservedKey, key: StoredKey | undefined, now: number) {
  const use = staleUse(observed, key, now)?.use;
  if (use === undefined) return undefined;
  return withoutUndefined({
    version: use.version,
    lastUsedTime: rfc3339(use.at),
    address: use.address ?? undefined,
    userAgent: use.userAgent ?? undefined,
  });
}

/**
 * Returns the receipt of a revocation (architecture §3): the change that revoked the key, and since when no replica
 * accepts it. A status may have the receipt of a revocation that the database has lost (threats c123), whose sequence
 * another one may have by now.
 */
function revocation(object: DeclaredObject, confirmed: boolean, key: StoredKey | undefined, now: number) {
  if (key?.revocation == null) return undefined;
  const sequence = key.revocation.seq ?? undefined;
  const before = object.status?.revocation;
  const written = isRecord(before) && before.sequence === sequence ? before.confirmedAt : undefined;
  const already = typeof written === "string" && written >= rfc3339(key.revocation.at) ? written : undefined;
  return withoutUndefined({
    sequence,
    confirmedAt: already ?? (confirmed ? rfc3339(Math.max(now, key.revocation.at)) : undefined),
  });
}

function withoutUndefined<T extends Record<string, unknown>>(object: T): T {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as T;
}
