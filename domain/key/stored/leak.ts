import type { KeyRecord } from "../../access/key-record.ts";
import { condition, type StatedCondition } from "../../conditions.ts";
import { rfc3339 } from "../../rfc3339.ts";
import { isLiving, type StoredKey, type StoredVersion } from "./stored-key.ts";
import { retiringEndsAt } from "./version-slots.ts";

/** Action that a team wants for a leaked key: nothing is revoked unless a declaration asks for it. */
export type LeakAction = "Revoke" | "Alert";

/**
 * State of a secret that was found somewhere. `active` works at that moment. `suspended` and `expired` may work again.
 * `retired` (another version has taken its place) and `revoked` (with its key) never work again.
 */
export type SecretState = "active" | "suspended" | "expired" | "retired" | "revoked";

/**
 * Returns the state of a leaked secret, by the row of its version and key.
 *
 * @param now milliseconds since the epoch
 */
export function leakedSecretState(
  {
    state,
    versionState,
    teamHoldsNamespace,
    expiresAt,
  }: Pick<KeyRecord, "state" | "versionState" | "teamHoldsNamespace" | "expiresAt">,
  now: number,
): SecretState {
  if (state !== "active" && state !== "suspended") return "revoked";
  const isOver = now >= expiresAt;
  const lives = versionState === "reserved" || versionState === "active" || (versionState === "retiring" && !isOver);
  if (!lives) return "retired";
  if (isOver) return "expired";
  return state === "active" && teamHoldsNamespace ? "active" : "suspended";
}

/**
 * Decides the response to a leaked secret: none if the secret never works again. If a retiring version leaked, only
 * that version ends: the newer version has not leaked, and consumers have it.
 */
export function leakResponse(
  action: LeakAction,
  state: SecretState,
  versionState: KeyRecord["versionState"],
): "none" | "alert" | "end version" | "revoke key" {
  if (state === "retired" || state === "revoked") return "none";
  if (action === "Alert") return "alert";
  return versionState === "retiring" ? "end version" : "revoke key";
}

/** Returns the `Leaked` condition of a key's status, as long as a reported version works or may work again. */
export function leakedCondition(key: StoredKey | undefined, now: number): StatedCondition[] {
  const reports = (key?.versions ?? []).flatMap((version) => {
    const { number, prefix, leakedAt } = version;
    if (leakedAt === null || !mayWork(version, now)) return [];
    return `Version ${number} (${prefix}...) was reported as leaked at ${rfc3339(leakedAt)}.`;
  });
  return reports.length === 0 ? [] : [condition("Leaked", "True", "LeakReported", reports.join(" "))];
}

function mayWork(version: StoredVersion, now: number): boolean {
  return isLiving(version) && (version.state !== "retiring" || now < retiringEndsAt(version));
}
