import type { KeyRecord } from "./key-record.ts";

/** Cause for which a credential is refused with 401; counted and sampled, never disclosed to the caller (spec §2.2). */
export type RefusalCause =
  | "missing"
  | "repeated_carrier"
  | "malformed"
  | "unknown"
  | "revoked"
  | "expired"
  | "suspended"
  | "wrong_team";

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
