import { type Keyring, seal, unseal } from "../../../store/encryption/keyring.ts";
import type { Checks } from "./issuer-client.ts";
import { makeSecret } from "./secret.ts";

/** Milliseconds that a person may take to sign in at an issuer. */
export const ATTEMPT_MS = 10 * 60_000;

/** A person's way to an issuer and back, sealed into a cookie that ties it to their browser. */
export type Attempt = Checks & {
  readonly issuer: string;
  /** Page that the person wanted. */
  readonly returnTo: string;
  /** True if the issuer was asked, without showing a page, about a person who is signed in already. */
  readonly renews: boolean;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
};

/** Attempts that a browser has at a time, at most. */
const MAX_ATTEMPTS = 8;
/** Bytes of all their cookies at most: half of what the head of a request may have. */
const MAX_BYTES = 8 << 10;

type SignInRequest = Pick<Attempt, "issuer" | "returnTo" | "renews">;

const BELONGS_TO = "sign-in attempt";

export function beginAttempt({ issuer, returnTo, renews }: SignInRequest, now: number): Attempt {
  return {
    ...{ issuer, returnTo, renews, expiresAt: now + ATTEMPT_MS },
    ...{ state: makeSecret(), nonce: makeSecret(), verifier: makeSecret() },
  };
}

/** Seals an attempt for a cookie: only servers with the keyring can read it, or make one. */
export function sealAttempt(keyring: Keyring, attempt: Attempt): string {
  return seal(keyring, JSON.stringify(attempt), BELONGS_TO).toString("base64url");
}

/** Opens the attempt of a cookie; undefined if it is none of ours, or is over. */
export function openAttempt(keyring: Keyring, cookie: string | undefined, now: number): Attempt | undefined {
  if (cookie === undefined) return undefined;
  try {
    // Only sealAttempt can have written it.
    const attempt: Attempt = JSON.parse(unseal(keyring, Buffer.from(cookie, "base64url"), BELONGS_TO));
    return attempt.expiresAt > now ? attempt : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Returns the states of the attempts that make way for a new one, by what a browser's cookies hold: the oldest, to
 * which a person is the least likely to come back.
 *
 * @param sealed cookie of the new attempt
 */
export function attemptsToForget(keyring: Keyring, cookies: readonly string[], sealed: string, now: number): string[] {
  const newestFirst = cookies
    .flatMap((cookie) => {
      const attempt = openAttempt(keyring, cookie, now);
      return attempt === undefined ? [] : { ...attempt, bytes: cookie.length };
    })
    .sort((one, other) => other.expiresAt - one.expiresAt);
  let held = sealed.length;
  const full = newestFirst.findIndex(({ bytes }, i) => {
    held += bytes;
    return i === MAX_ATTEMPTS - 1 || held > MAX_BYTES;
  });
  return full === -1 ? [] : newestFirst.slice(full).map(({ state }) => state);
}
