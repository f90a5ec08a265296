import { createHash, timingSafeEqual } from "node:crypto";
import type { InstallationRole } from "../principal.ts";

/**
 * Token that opens the management API, by its SHA-256. It is sent as `Authorization: Bearer <token>`, and is never held
 * itself.
 */
export type ManagementToken = {
  /** The actor that the audit log names for its uses. */
  readonly actor: string;
  readonly role: InstallationRole;
  /** Null while there is no token that could be accepted. */
  readonly digest: Uint8Array | null;
};

/** Returns a token as it is known here. It opens everything if no role is given. */
export function managementToken(actor: string, token: string, role: InstallationRole = "everything"): ManagementToken {
  return { actor, role, digest: tokenDigest(token) };
}

/** True if a text is the installation's token. Digests are compared, in constant time. */
export function isManagementToken({ digest }: ManagementToken, presented: string): boolean {
  return digest !== null && timingSafeEqual(tokenDigest(presented), digest);
}

/** Returns the SHA-256 of a text. */
export function tokenDigest(text: string): Uint8Array {
  return createHash("sha256").update(text).digest();
}
