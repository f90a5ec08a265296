import type { Store } from "../../../store/database/store.ts";
import { findSession, type Session } from "../../../store/sessions/sessions.ts";
import type { ServerConfig } from "../../context/config.ts";
import type { ManagementToken } from "../management/management-token.ts";
import type { Principal } from "../principal.ts";
import { principalOfIssuer } from "../tokens/claims.ts";
import { readCookie } from "./cookies.ts";
import { csrfTokenOf, secretDigest } from "./secret.ts";

/** Parts that a session is looked up with. */
export type SessionDeps = {
  readonly store: Store;
  readonly config: Pick<ServerConfig, "oidc" | "publicUrl" | "tls" | "vendorHeader">;
  /** Null if the installation has none. */
  readonly managementToken: ManagementToken | null;
};

/** The session of a request. */
export type ConsoleSession = {
  /** Token that its forms carry, as the field `_csrf` or the header `x-csrf-token`. */
  readonly csrfToken: string;
  readonly displayName: string;
  /** Null for a principal of the installation, who came by a one-time link. */
  readonly issuer: string | null;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
  /** Milliseconds since the issuer said who the person is; 0 if there is no issuer to ask. */
  readonly claimsAgeMs: number;
  /** Digest by which the database knows it: 32 latin1 characters. */
  readonly digest: string;
};

/**
 * Milliseconds that a session counts on what its issuer has said of a person: a person who leaves a group has lost it
 * then.
 */
const CLAIMS_MS = 15 * 60_000;

/** Actor, in the audit log, of a person who came by a one-time link. */
export const LINK_ACTOR = "console-link";

/**
 * Authenticates a request by the session of its cookie. The session is read from the database each time: a session that
 * has ended is refused with the next request on every replica.
 *
 * @param anyClaims true if a session is enough although its issuer has to be asked anew
 * @returns the principal and the session; or the cause of a 401, with the issuer if it has only to be asked anew
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
  return { principal: { ...principal, session: digest }, session };
}

/**
 * Returns the principal of a session; undefined if its issuer is configured no more, or, for a session by a link, if
 * there is no token that lets people make links.
 */
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
