import type { DeclaredKey } from "../declaration/declared-key.ts";
import { rotationDueAt } from "../issuance/issuance-policy.ts";
import { type StoredKey, versionIn } from "../stored/stored-key.ts";

/** How long before a key's end the warning comes, in milliseconds. */
export const EXPIRY_NOTICE_MS = 7 * 24 * 3_600_000;

/** An end to warn of, and from when on. Milliseconds since the epoch. */
type ExpiryNotice = { readonly expiry: number; readonly from: number };

/**
 * The warning that a key wants. None for one that lives no longer than the notice itself, which was meant to be short;
 * nor for the end of a version that a rotation comes before.
 */
export function expiryNotice(
  declared: Pick<DeclaredKey, "expiresAt" | "rotationInterval">,
  key: StoredKey,
  now: number,
): ExpiryNotice | undefined {
  const active = versionIn(key, "active");
  if (key.state === "revoked" || active === undefined) return undefined;
  const rotates = rotationDueAt(active, declared.rotationInterval, key.id);
  const versionEnds = active.expiresAt !== null && !(now < rotates && rotates < active.expiresAt);
  const ends = [
    { expiry: declared.expiresAt, since: Math.min(...key.versions.map(({ mintedAt }) => mintedAt)) },
    { expiry: versionEnds ? active.expiresAt : null, since: active.mintedAt },
  ];
  const notices = ends.flatMap(({ expiry, since }) =>
    expiry !== null && expiry - since > EXPIRY_NOTICE_MS ? [{ expiry, from: expiry - EXPIRY_NOTICE_MS }] : [],
  );
  return notices.sort((a, b) => a.expiry - b.expiry)[0];
}
