import { type Keyring, seal, unseal } from "../../../store/keyring.ts";
import type { Checks } from "./issuer-client.ts";
import { makeSecret } from "./secret.ts";

/** How long somebody may take to sign in at an issuer. */
export const ATTEMPT_MS = 10 * 60_000;

/** Somebody's way to an issuer and back: sealed into a cookie, so that it is this very browser's. */
export type Attempt = Checks & {
  readonly issuer: string;
  /** The page that they wanted. */
  readonly returnTo: string;
  /** Whether the issuer was asked about who is signed in already, and was to show no page. */
  readonly renews: boolean;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
};

/** Attempts that a browser has at a time: a request with all of their cookies is well within what a head may be. */
const MAX_ATTEMPTS = 8;

type Wanted = Pick<Attempt, "issuer" | "returnTo" | "renews">;

const BELONGS_TO = "sign-in attempt";

export function beginAttempt({ issuer, returnTo, renews }: Wanted, now: number): Attempt {
  return {
    ...{ issuer, returnTo, renews, expiresAt: now + ATTEMPT_MS },
    ...{ state: makeSecret(), nonce: makeSecret(), verifier: makeSecret() },
  };
}

/** As a cookie holds it: nobody else can read it, or make one. */
export function sealAttempt(keyring: Keyring, attempt: Attempt): string {
  return seal(keyring, JSON.stringify(attempt), BELONGS_TO).toString("base64url");
}

/** The attempt of a cookie; undefined for what is none of ours, or is over. */
export function openAttempt(keyring: Keyring, cookie: string | undefined, now: number): Attempt | undefined {
  if (cookie === undefined) return undefined;
  try {
    // Nobody but sealAttempt has written it.
    const attempt: Attempt = JSON.parse(unseal(keyring, Buffer.from(cookie, "base64url"), BELONGS_TO));
    return attempt.expiresAt > now ? attempt : undefined;
  } catch {
    return undefined;
  }
}

/**
 * The states of the attempts that make way for another one, by what a browser's cookies hold: the oldest, which are the
 * least likely to be come back to.
 */
export function attemptsToForget(keyring: Keyring, cookies: readonly string[], now: number): string[] {
  return cookies
    .flatMap((cookie) => openAttempt(keyring, cookie, now) ?? [])
    .sort((one, other) => other.expiresAt - one.expiresAt)
    .slice(MAX_ATTEMPTS - 1)
    .map(({ state }) => state);
}
