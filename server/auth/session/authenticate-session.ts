import type { Store } from "../../../store/database/store.ts";
import { findSession, type Session } from "../../../store/sessions/sessions.ts";
import type { ServerConfig } from "../../context/config.ts";
import type { ManagementToken } from "../management/management-token.ts";
import type { Principal } from "../principal.ts";
import { principalOfIssuer } from "../tokens/claims.ts";
import { readCookie } from "./cookies.ts";
import { csrfTokenOf, secretDigest } from "./secret.ts";

/** What a session is looked up by. */
export type SessionDeps = {
  readonly store: Store;
  readonly config: Pick<ServerConfig, "oidc" | "publicUrl" | "tls" | "vendorHeader">;
  /** Null where the installation has none. */
  readonly managementToken: ManagementToken | null;
};

/** The session of a request. */
export type ConsoleSession = {
  /** What its forms carry, as the field `_csrf` or the header `x-csrf-token`. */
  readonly csrfToken: string;
  readonly displayName: string;
  /** Null for the installation's own, who came by a one-time link. */
  readonly issuer: string | null;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
  /** How long ago the issuer said who it is, in milliseconds; 0 where it has no issuer to ask. */
  readonly claimsAgeMs: number;
  /** By which the database knows it: 32 latin1 characters. */
  readonly digest: string;
};

/** How long a session counts on what its issuer has said of a person: who leaves a group has lost it then. */
const CLAIMS_MS = 15 * 60_000;

/** Who came by a one-time link, in the audit log. */
export const LINK_ACTOR = "console-link";

/**
 * Who is signed in by the session of a request's cookie. The session is read from the database each time: one that has
 * ended is refused with the next request on every replica.
 *
 * @param anyClaims whether it may be one that its issuer has to be asked anew about
 * @returns or the cause of a 401, with the issuer where it has only to be asked anew
 * @throws DatabaseUnavailableError
 */
export async function authenticateSession(
  deps: SessionDeps,
  rawHeaders: readonly string[],
  anyClaims = false,
): Promise<
  | { readonly principal: Principal; readonly session: ConsoleSession }
  | { readonly cause: string; readonly renewBy?: string }
> {
  const secret = readCookie("session", deps.config, rawHeaders);
  if (secret === undefined) return { cause: "no_management_token" };
  const digest = secretDigest(secret);
  const found = digest === undefined ? undefined : await findSession(deps.store.unauthenticatedDb, digest);
  if (digest === undefined || found === undefined) return { cause: "session_unknown" };
  const principal = principalOfSession(deps, found);
  if (principal === undefined) return { cause: "session_issuer" };
  const { person, displayName, expiresAt } = found;
  const claimsAgeMs = person === null ? 0 : found.claimsAgeMs;
  const issuer = person?.issuer ?? null;
  if (issuer !== null && claimsAgeMs > CLAIMS_MS && !anyClaims) return { cause: "session_claims", renewBy: issuer };
  const session = { csrfToken: csrfTokenOf(secret), displayName, issuer, expiresAt, claimsAgeMs, digest };
  return { principal, session };
}

/** Undefined where the issuer is configured no more; of a link, where there is no token that lets make one. */
function principalOfSession(
  { config: { oidc }, managementToken }: SessionDeps,
  { person, begunAt }: Session,
): Principal | undefined {
  if (person === null) {
    return managementToken?.role === "everything" ? { actor: LINK_ACTOR, as: "everything" } : undefined;
  }
  const { issuer, subject, groups } = person;
  if (!oidc?.issuers.includes(issuer)) return undefined;
  return principalOfIssuer(oidc, issuer, { subject, groups, serviceAccount: null, issuedAt: begunAt });
}
