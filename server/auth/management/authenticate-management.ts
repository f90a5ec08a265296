import type { IncomingMessage } from "node:http";
import { MAX_TOKEN_AGE_MS } from "../../../domain/access/member-access.ts";
import type { Clock } from "../../../runtime/clock.ts";
import type { Logger } from "../../../runtime/log.ts";
import { presentsCredential, readBearer } from "../credential.ts";
import type { Principal } from "../principal.ts";
import { authenticateSession, type ConsoleSession, type SessionDeps } from "../session/authenticate-session.ts";
import { principalOfIssuer } from "../tokens/claims.ts";
import { issuedAtOf, MAX_TOKEN_LENGTH, type ValidateJwt, validateOrWarn } from "../tokens/jwt.ts";
import { ISSUER_UNAVAILABLE } from "../tokens/token-problems.ts";
import { isManagementToken } from "./management-token.ts";

const NO_TOKEN = { cause: "no_management_token" } as const;

/** Parts that the decision reads. */
export type AuthenticationDeps = SessionDeps & {
  /** Null if no issuer is configured. */
  readonly validateJwt: ValidateJwt | null;
  readonly log: Logger;
  readonly clock: Clock;
};

/** Principal of a management request, or the cause of a 401. */
export type Authenticated =
  | { readonly principal: Principal; readonly session: ConsoleSession | null }
  | {
      readonly cause: string;
      /** Issuer of a session whose claims are too old: it only has to be asked anew. */
      readonly renewBy?: string;
    };

/**
 * Authenticates a management request: by its bearer token or, if no carrier presents a credential, by the session of
 * its cookie. An API key is neither (threats b10, b11).
 *
 * @param anyClaims true if a session is enough although its issuer has to be asked anew about the person
 * @throws Problem `unavailable` while the issuer's keys cannot be fetched
 */
export async function authenticateManagement(
  deps: AuthenticationDeps,
  { rawHeaders, url = "" }: Pick<IncomingMessage, "rawHeaders" | "url">,
  anyClaims = false,
): Promise<Authenticated> {
  const presented = readBearer(rawHeaders, MAX_TOKEN_LENGTH);
  if (presented !== undefined) return authenticateBearer(deps, presented);
  return presentsCredential(rawHeaders, url, deps.config.vendorHeader)
    ? NO_TOKEN
    : authenticateSession(deps, rawHeaders, anyClaims);
}

async function authenticateBearer(
  { managementToken, validateJwt, config: { oidc }, log, clock }: AuthenticationDeps,
  presented: string,
): Promise<Authenticated> {
  if (managementToken !== null && isManagementToken(managementToken, presented)) {
    return { principal: { actor: managementToken.actor, as: managementToken.role }, session: null };
  }
  if (validateJwt === null || oidc === null) return NO_TOKEN;
  const validation = await validateOrWarn({ validateJwt, log }, presented, oidc.audience);
  if (validation === undefined) throw ISSUER_UNAVAILABLE;
  if ("cause" in validation) return validation;
  const issuedAt = issuedAtOf(validation.claims);
  // A revocation reaches what was issued before it, and is kept for so long: no token may outlast it.
  if (issuedAt > clock.now()) return { cause: "jwt_claims" };
  if (issuedAt + MAX_TOKEN_AGE_MS <= clock.now()) return { cause: "jwt_expired" };
  return { principal: principalOfIssuer(oidc, validation.issuer, { ...validation.names, issuedAt }), session: null };
}
