import type { KeyRecord } from "./key-record.ts";

/** Cause for which what a request carries is no key, refused with 401 like a {@link RefusalCause}. */
export type CredentialCause = "missing" | "repeated_carrier" | "malformed";

/**
 * Cause for which a key is refused with 401, by its record or the lack of one; counted and sampled, never disclosed to
 * the caller (spec §2.2).
 */
export type RefusalCause = "unknown" | "revoked" | "expired" | "suspended" | "wrong_team";

/**
 * Returns why this version of a key may not be used at `now` (milliseconds since the epoch), or undefined if it may.
 * Written as what is allowed, so that a state unknown to this build is refused.
 */
export function unusableBecause(key: KeyRecord, now: number): RefusalCause | undefined {
  if (key.state === "suspended") return "suspended";
  if (key.state !== "active") return "revoked";
  if (!key.teamHoldsNamespace) return "suspended";
  switch (key.versionState) {
    case "reserved":
    case "active":
      return now < key.expiresAt ? undefined : "expired";
    case "retiring":
      return now < key.expiresAt ? undefined : "revoked";
    default:
      return "revoked";
  }
}
