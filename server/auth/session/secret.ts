import { createHash, hash, randomBytes, timingSafeEqual } from "node:crypto";

/** 32 bytes in base64url, and nothing else. */
const SECRET = /^[A-Za-z0-9_-]{43}$/;

/** What a session's cookie, or a one-time link, holds: 256 random bits. */
export function makeSecret(): string {
  return randomBytes(32).toString("base64url");
}

/** By what a secret is known in the database: 32 latin1 characters; undefined for a text that is none. */
export function secretDigest(presented: string): string | undefined {
  return SECRET.test(presented) ? hash("sha256", presented, "buffer").toString("latin1") : undefined;
}

/**
 * What every form of a session carries: it follows from what the cookie holds, so that no row is needed and no other page
 * can know it, and does not lead back to it.
 */
export function csrfTokenOf(secret: string): string {
  return createHash("sha256").update("keyplane-csrf\0").update(secret).digest("base64url");
}

/** Whether a request carries the session's token. Compared in constant time. */
export function isCsrfToken(token: string, presented: unknown): boolean {
  if (typeof presented !== "string") return false;
  const [one, other] = [Buffer.from(token), Buffer.from(presented)];
  return one.length === other.length && timingSafeEqual(one, other);
}
