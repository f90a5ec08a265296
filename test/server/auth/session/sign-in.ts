import { csrfTokenOf, makeSecret, secretDigest } from "../../../../server/auth/session/secret.ts";
import type { Store } from "../../../../store/database/store.ts";
import { beginSession, type SignedIn } from "../../../../store/sessions/sessions.ts";

/** What a browser has of a session, over plain http. */
export type Browser = {
  /** The header `Cookie`. */
  readonly cookie: string;
  readonly csrfToken: string;
  /** By which the database knows the session. */
  readonly digest: string;
};

const HOUR = 3_600_000;

/**
 * Signs a person in without an issuer: the session that a sign-in would make. Where no person is given it is the
 * installation's own, as by a one-time link: the server then needs a token of the role `everything`.
 */
export async function signIn(store: Store, signedIn: Partial<SignedIn> = {}, lifetimeMs = HOUR): Promise<Browser> {
  const secret = makeSecret();
  const digest = secretDigest(secret);
  if (digest === undefined) throw new Error("the new secret has no digest");
  const all: SignedIn = { person: null, sid: null, displayName: "Ann", ...signedIn };
  await store.db.transaction().execute((tx) => beginSession(tx, digest, all, lifetimeMs));
  return { cookie: `keyplane_session=${secret}`, csrfToken: csrfTokenOf(secret), digest };
}

/** The headers of a request by a page of ours. */
export function ownPage({ url }: { readonly url: string }, { cookie, csrfToken }: Browser) {
  return { cookie, origin: url, "x-csrf-token": csrfToken };
}
