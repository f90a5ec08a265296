import type { KeyRecord } from "./key-record.ts";

/** Why a credential is refused with 401; counted and sampled, never disclosed to the caller (spec §2.2). */
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
 * Why this version of a key may not be used at `now` (milliseconds since the epoch), or undefined when it may.
 * Written as what is allowed, so that a state this build has never heard of is refused.
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
