import { createHash, timingSafeEqual } from "node:crypto";
import type { InstallationRole } from "../principal.ts";

/**
 * Who may use the management API, by the SHA-256 of a token that is sent as `Authorization: Bearer <token>`. The token
 * itself is never held.
 */
export type ManagementToken = {
  /** The actor that the audit log names for its uses. */
  readonly actor: string;
  readonly role: InstallationRole;
  /** Null while there is no token that could be taken. */
  readonly digest: Uint8Array | null;
};

/** What a token is known by. It opens everything where no role is given. */
export function managementToken(actor: string, token: string, role: InstallationRole = "everything"): ManagementToken {
  return { actor, role, digest: tokenDigest(token) };
}

/** Whether it is the installation's token. Digests are compared, in constant time. */
export function isManagementToken({ digest }: ManagementToken, presented: string): boolean {
  return digest !== null && timingSafeEqual(tokenDigest(presented), digest);
}

/** SHA-256. */
export function tokenDigest(text: string): Uint8Array {
  return createHash("sha256").update(text).digest();
}
