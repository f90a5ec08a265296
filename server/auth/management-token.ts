import { createHash, timingSafeEqual } from "node:crypto";

/**
 * Who may use the management API, by the SHA-256 of a token that is sent as `Authorization: Bearer <token>`. The token
 * itself is never held.
 */
export type ManagementToken = {
  /** As the audit log names whoever uses it. */
  readonly actor: string;
  readonly digest: Uint8Array;
};

/** What a token is known by. */
export function managementToken(actor: string, token: string): ManagementToken {
  return { actor, digest: sha256(token) };
}

/** Whether it is the installation's token. Digests are compared, in constant time. */
export function isManagementToken(known: ManagementToken, presented: string): boolean {
  return timingSafeEqual(sha256(presented), known.digest);
}

function sha256(text: string): Uint8Array {
  return createHash("sha256").update(text).digest();
}
