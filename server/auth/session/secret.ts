import { createHash, hash, randomBytes, timingSafeEqual } from "node:crypto";

/** Pattern of a secret: 32 bytes in base64url, and nothing else. */
const SECRET = /^[A-Za-z0-9_-]{43}$/;

/** Creates the secret of a session's cookie, or of a one-time link: 256 random bits. */
export function makeSecret(): string {
  return randomBytes(32).toString("base64url");
}

/**
 * Returns the digest by which a secret is known in the database: 32 latin1 characters; undefined for a text that is no
 * secret.
 */
export function secretDigest(presented: string): string | undefined {
  return SECRET.test(presented) ? hash("sha256", presented, "buffer").toString("latin1") : undefined;
}

/**
 * Returns the token that every form of a session carries: it follows from the session's secret, so that no row is
 * needed and no other page can know it, and it does not lead back to the secret.
 */
export function csrfTokenOf(secret: string): string {
  return createHash("sha256").update("keyplane-csrf\0").update(secret).digest("base64url");
}

/** True if a request carries the session's token. Compared in constant time. */
export function isCsrfToken(token: string, presented: unknown): boolean {
  if (typeof presented !== "string") return false;
  const [one, other] = [Buffer.from(token), Buffer.from(presented)];
  return one.length === other.length && timingSafeEqual(one, other);
}
