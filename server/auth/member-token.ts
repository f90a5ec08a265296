import { MAX_TOKEN_AGE_MS, memberScopes, standingNames } from "../../domain/access/member-access.ts";
import type { MemberToken } from "../../domain/access/membership.ts";
import { extractCredential, readBearer } from "./credential.ts";
import { actorOf } from "./tokens/claims.ts";
import { CLOCK_SKEW_S, issuedAtOf, type JwtValidation, MAX_TOKEN_LENGTH } from "./tokens/jwt.ts";

/** Pattern of a token of three parts that is no key: an imported key may have any characters behind its first four. */
const JWT = /^(?!inf_)[\w-]+\.[\w-]+\.[\w-]+$/;

/**
 * Returns the token of an issuer that a request presents instead of a key: only as `Authorization: Bearer`, if that is
 * the carrier that applies (spec §2.1). undefined if what applies is to be judged as a key, good or bad.
 */
export function presentedToken(rawHeaders: readonly string[], url: string, vendorHeader: string): string | undefined {
  if (extractCredential(rawHeaders, url, vendorHeader).carrier !== "bearer") return undefined;
  const token = readBearer(rawHeaders, MAX_TOKEN_LENGTH);
  return token !== undefined && JWT.test(token) ? token : undefined;
}

/** Returns what a verified token says to the decision. */
export function memberTokenOf({ issuer, names, claims }: Exclude<JwtValidation, { cause: string }>): MemberToken {
  const issuedAt = issuedAtOf(claims);
  // With the tolerance by which a token is accepted when it comes.
  const end = ((claims.exp ?? 0) + CLOCK_SKEW_S) * 1_000;
  return {
    actor: actorOf(issuer, names),
    names: standingNames(names),
    scopes: memberScopes(claims.scope ?? claims.scp),
    issuedAt,
    expiresAt: Math.min(end, issuedAt + MAX_TOKEN_AGE_MS),
  };
}
