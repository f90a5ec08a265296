/** Lives of the versions of a key that was issued before its policies' rules of an expiry came to hold. */
import { DEFAULT_OVERLAP, type DeclaredKey, overlapLimit } from "../declaration/declared-key.ts";
import { isLiving, type StoredKey, type StoredVersion, versionIn } from "../stored/stored-key.ts";
import type { KeptEnd } from "../stored/version-end.ts";
import { lowest } from "./bounds.ts";
import { dueAt, type TeamPolicy } from "./team-policies.ts";

/** A rule that gives a version an expiry: its life, and when that holds for older versions; null if not known. */
type LifeRule = { readonly life: number; readonly due: number | null };

/** Durations and times are milliseconds. */
export type BoundLife = {
  /** Life of a version that is minted from now on; null without an expiry. */
  readonly expiresAfter: number | null;
  /** Expiries of existing versions that differ from `expiresAfter`. */
  readonly keptEnds: readonly KeptEnd[];
  /** Maximum age of the current version before it is rotated, because a rule that is due ends it; null for any age. */
  readonly rotationInterval: number | null;
};

/** Returns the active version, or else the newest living version. */
export function currentVersion(stored: StoredKey): StoredVersion | undefined {
  return versionIn(stored, "active") ?? stored.versions.find(isLiving);
}

/**
 * Bounds the life of a key's versions: a new version by every rule; no rule ends an existing version before it is
 * due. A generated key is rotated once a rule is due that its version outlives; that version then has its overlap.
 *
 * @param now by the database's clock
 */
export function boundLife(
  declared: DeclaredKey,
  stored: StoredKey,
  policies: readonly TeamPolicy[],
  now: number,
): BoundLife {
  const current = currentVersion(stored);
  const rules = lifeRules(declared, policies, current?.mintedAt ?? now);
  const expiresAfter = lowest([declared.expiresAfter, ...rules.map(({ life }) => life)]);
  const overlap = Math.min(overlapLimit(declared.overlap), overlapLimit(DEFAULT_OVERLAP));
  const overlapOf = ({ imported }: StoredVersion) => (imported || declared.source.type !== "Generate" ? 0 : overlap);
  const ends = stored.versions.filter(isLiving).flatMap((version) => {
    const { number, mintedAt } = version;
    // The key's own end may be within a rule for its current version, and beyond it for an older one.
    const ofVersion = lifeRules(declared, policies, mintedAt);
    if (ofVersion.length === 0) return [];
    const byLife = expiresAfter === null ? null : mintedAt + expiresAfter;
    return [{ number, byLife, expiresAt: endOf(version, declared.expiresAfter, ofVersion, overlapOf(version)) }];
  });
  const outlived = rules.filter(
    ({ life, due }) =>
      due !== null && due <= now && current !== undefined && endsLater(current, current.mintedAt + life),
  );
  const isRotated = current !== undefined && !current.imported && declared.source.type === "Generate";
  const interval = isRotated ? lowest(outlived.map(({ life }) => life)) : null;
  return {
    expiresAfter,
    keptEnds: ends.filter(({ expiresAt, byLife }) => expiresAt !== byLife).map(({ byLife, ...end }) => end),
    rotationInterval: interval === null ? null : Math.max(0, interval - overlap),
  };
}

/** Returns the rules that give a version an expiry, without those that the key's own expiry meets or replaces. */
function lifeRules(
  { expiresAfter, expiresAt }: DeclaredKey,
  policies: readonly TeamPolicy[],
  bornAt: number,
): LifeRule[] {
  return policies.flatMap((policy) => {
    const { max, default: given } = policy.expiry;
    const isInTime = max !== null && expiresAt !== null && expiresAt <= bornAt + max;
    return [
      ...(max === null || isInTime ? [] : [{ life: max, due: dueAt(policy, "expiry.max") }]),
      ...(given === null || expiresAfter !== null || expiresAt !== null
        ? []
        : [{ life: given, due: dueAt(policy, "expiry.default") }]),
    ];
  });
}

/**
 * Returns when a version expires. A rule ends no version before it is due, and then leaves it the overlap to be rotated
 * in. An expiry that is declared anew to keep a rule ends no version sooner than that either.
 *
 * @param asked the declared life
 */
function endOf(
  version: StoredVersion,
  asked: number | null,
  rules: readonly LifeRule[],
  overlap: number,
): number | null {
  const { mintedAt } = version;
  const own = mintedAt + (asked ?? Number.POSITIVE_INFINITY);
  const strict = mintedAt + Math.min(...rules.map(({ life }) => life));
  // A version that ends within the rules already keeps to them.
  if (!endsLater(version, strict)) return Math.min(own, strict);
  const stored = version.expiresAt ?? Number.POSITIVE_INFINITY;
  const until = ({ due }: LifeRule) => (due === null ? stored : due + overlap);
  const byRules = Math.min(...rules.map((rule) => Math.max(mintedAt + rule.life, until(rule))));
  const old = rules.filter((rule) => mintedAt + rule.life < until(rule));
  const isShortened = own <= strict && old.length > 0;
  const end = Math.min(byRules, isShortened ? Math.max(own, Math.min(...old.map(until))) : own);
  return Number.isFinite(end) ? end : null;
}

function endsLater({ expiresAt }: StoredVersion, than: number): boolean {
  return expiresAt === null || expiresAt > than;
}
