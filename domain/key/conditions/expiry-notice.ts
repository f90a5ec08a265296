import type { DeclaredKey } from "../declaration/declared-key.ts";
import { rotationDueAt } from "../issuance/issuance-policy.ts";
import { type StoredKey, versionIn } from "../stored/stored-key.ts";

/** Milliseconds before a key's expiry at which the warning comes. */
export const EXPIRY_NOTICE_MS = 7 * 24 * 3_600_000;

/** An expiry to warn of, and the time from which to warn. Milliseconds since the epoch. */
type ExpiryNotice = { readonly expiry: number; readonly from: number };

/**
 * Returns the expiry that a key has to be warned of; undefined if there is none. A key that lives no longer than the
 * notice itself gets none, because it was meant to be short. Nor does a version that is rotated before its expiry.
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
    { expiry: declared.expiresAt, since: key.createdAt },
    { expiry: versionEnds ? active.expiresAt : null, since: active.mintedAt },
  ];
  const notices = ends.flatMap(({ expiry, since }) =>
    expiry !== null && expiry - since > EXPIRY_NOTICE_MS ? [{ expiry, from: expiry - EXPIRY_NOTICE_MS }] : [],
  );
  return notices.sort((a, b) => a.expiry - b.expiry)[0];
}
