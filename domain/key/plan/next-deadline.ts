import { expiryNotice } from "../conditions/expiry-notice.ts";
import { lateUsesKnownAt } from "../conditions/stale-consumers.ts";
import { nextAdoptionLook } from "../issuance/adoption.ts";
import { rotationDueAt, wantedVersion } from "../issuance/issuance-policy.ts";
import { rewriteFrom } from "../observed/altered-secret.ts";
import { governedKey, type ObservedKey } from "../observed/observed-key.ts";
import { versionIn } from "../stored/stored-key.ts";
import { retiringEndsAt, supersededReservation } from "../stored/version-slots.ts";

/**
 * Milliseconds between two attempts to read a Secret that may not be read: no watch reports that the right is back. No
 * back-off is longer (architecture §2, I8).
 */
const CLOSED_LOOK_MS = 30_000;

/** Returns the next time at which time alone changes something, in milliseconds since the epoch; Infinity for never. */
export function nextDeadline(observed: ObservedKey, now: number): number {
  const key = governedKey(observed);
  if (key?.state === "revoked") return Number.POSITIVE_INFINITY;
  const look = observed.secret.state === "unreadable" ? now + CLOSED_LOOK_MS : Number.POSITIVE_INFINITY;
  if (key === undefined) return look;
  const active = versionIn(key, "active");
  const deadlines = [
    look,
    observed.declared.expiresAt,
    active?.expiresAt,
    active && rotationDueAt(active, observed.declared.rotationInterval, key.id),
    wantedVersion(observed, key, now)?.from,
    supersededReservation(key, observed.declared, now)?.from,
    observed.altered && rewriteFrom(observed.altered),
    ...key.versions.map((version) => (version.state === "retiring" ? retiringEndsAt(version) : null)),
    expiryNotice(observed.declared, key, now)?.from,
    nextAdoptionLook(observed, key, now),
    ...lateUsesKnownAt(observed.declared, key),
    observed.verdict.nextAt,
    observed.verdict.endsAt,
    observed.steadyFrom,
  ];
  return Math.min(
    ...deadlines.filter((at) => at !== null && at !== undefined && at > now).map(Number),
    Number.POSITIVE_INFINITY,
  );
}
