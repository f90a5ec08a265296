import { type Author, appendAudit } from "../../../store/audit/audit.ts";
import type { Store } from "../../../store/database/store.ts";
import { addSignInLink } from "../../../store/sessions/sign-in-links.ts";
import { SIGN_IN } from "./return-to.ts";
import { makeSecret, secretDigest } from "./secret.ts";

/** Milliseconds for which a link may be used. */
const LINK_MS = 10 * 60_000;

/** A link that signs in the person who opens it as a principal of the installation. It works once. */
export type OneTimeLink = {
  readonly url: string;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
};

/**
 * Creates a one-time link. It is a secret: only its recipient may see it.
 *
 * @param origin origin at which browsers reach the server, without a trailing slash
 */
export async function makeOneTimeLink({ db }: Store, origin: string, by: Author): Promise<OneTimeLink> {
  const secret = makeSecret();
  const digest = secretDigest(secret);
  if (digest === undefined) throw new Error("the new secret has no digest");
  const expiresAt = await db.transaction().execute(async (tx) => {
    await appendAudit(tx, [{ at: null, kind: "console_link.made", by, detail: {} }]);
    return addSignInLink(tx, digest, LINK_MS);
  });
  return { url: `${origin}${SIGN_IN}?link=${secret}`, expiresAt };
}
