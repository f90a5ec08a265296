import { decodeJwt, errors, type JWTPayload } from "jose";
import type { MemberNames } from "../../../domain/access/team-member.ts";
import type { Clock } from "../../../runtime/clock.ts";
import type { Logger } from "../../../runtime/log.ts";
import type { OidcConfig } from "../../context/config.ts";
import { memberNamesOf } from "./claims.ts";
import { IssuerUnavailableError } from "./issuer-http.ts";
import { createIssuerKeys } from "./issuer-keys.ts";
import { createTokenVerifier } from "./verify-token.ts";

/** Bearer of a token, or the cause of its refusal: for counting, never for the caller. */
export type JwtValidation =
  | { readonly issuer: string; readonly names: MemberNames; readonly claims: JWTPayload }
  | { readonly cause: JwtCause };

/**
 * Validates a token of the configured issuers.
 *
 * @param audience audience that the token needs
 * @throws IssuerUnavailableError if the issuer's keys cannot be fetched
 */
export type ValidateJwt = (token: string, audience: string) => Promise<JwtValidation>;

/**
 * Characters of a token at most: one of Entra's with 200 groups fits, and a request's head of 16 KiB has room for more
 * than it.
 */
export const MAX_TOKEN_LENGTH = 12_288;

type JwtCause =
  | "jwt_malformed"
  | "jwt_type"
  | "jwt_issuer"
  | "jwt_key"
  | "jwt_signature"
  | "jwt_expired"
  | "jwt_claims";

/**
 * Signature algorithms that take the issuer's private key: neither none, nor a signature by the public key as a secret.
 */
export const SIGNATURE_ALGORITHMS = ["RS256", "ES256", "EdDSA"];
/** Media types of a token that says who its bearer is. A token of another use (RFC 8725 §3.11) opens nothing. */
const TYPES: ReadonlySet<string> = new Set(["jwt", "at+jwt"]);
/** Seconds that the issuer's clock may be off ours. */
export const CLOCK_SKEW_S = 60;

const CAUSES: Readonly<Record<string, JwtCause>> = {
  [errors.JWSSignatureVerificationFailed.code]: "jwt_signature",
  [errors.JWKSNoMatchingKey.code]: "jwt_key",
  [errors.JWKSMultipleMatchingKeys.code]: "jwt_key",
  [errors.JWTExpired.code]: "jwt_expired",
  [errors.JWTClaimValidationFailed.code]: "jwt_claims",
};

/**
 * Returns when a verified token was issued at the earliest, in milliseconds since the epoch: long ago if it does not
 * say.
 */
export function issuedAtOf({ iat = 0 }: JWTPayload): number {
  return (iat - CLOCK_SKEW_S) * 1_000;
}

/** Creates the validator of the configured issuers' tokens (docs/decisions/jwts.md). */
export function createJwtValidator(config: Pick<OidcConfig, "issuers">, clock: Clock): ValidateJwt {
  const keysOf = new Map(config.issuers.map((issuer) => [issuer, createIssuerKeys(issuer, clock.monotonic)]));
  const verify = createTokenVerifier();
  return async (token, audience) => {
    try {
      const { iss: issuer = "" } = decodeJwt(token);
      const keys = keysOf.get(issuer);
      if (keys === undefined) return { cause: "jwt_issuer" };
      const { payload, protectedHeader } = await verify(token, keys, {
        issuer,
        audience,
        algorithms: SIGNATURE_ALGORITHMS,
        clockTolerance: CLOCK_SKEW_S,
        currentDate: new Date(clock.now()),
        requiredClaims: ["exp", "sub", "aud"],
      });
      return isOfThisUse(protectedHeader.typ) ? validateClaims(issuer, payload) : { cause: "jwt_type" };
    } catch (error) {
      if (error instanceof IssuerUnavailableError) throw error;
      if (error instanceof errors.JOSEError) return { cause: CAUSES[error.code] ?? "jwt_malformed" };
      // A key that does not fit the algorithm that the token names; and what is published as a key, and is none.
      if (error instanceof TypeError || error instanceof DOMException) return { cause: "jwt_key" };
      throw error;
    }
  };
}

/**
 * Validates a token as {@link ValidateJwt} does; undefined if the issuer's keys cannot be fetched, which the log then
 * says.
 */
export async function validateOrWarn(
  { validateJwt, log }: { readonly validateJwt: ValidateJwt; readonly log: Logger },
  token: string,
  audience: string,
): Promise<JwtValidation | undefined> {
  try {
    return await validateJwt(token, audience);
  } catch (error) {
    if (!(error instanceof IssuerUnavailableError)) throw error;
    log.warn({ error }, "cannot verify the tokens of an issuer");
    return undefined;
  }
}

/** @param typ left out by issuers that sign nothing else; as a media type it may stand without `application/` */
function isOfThisUse(typ: unknown): boolean {
  return typ === undefined || (typeof typ === "string" && TYPES.has(typ.toLowerCase().replace(/^application\//, "")));
}

function validateClaims(issuer: string, claims: JWTPayload): JwtValidation {
  const names = memberNamesOf(claims);
  return names === undefined ? { cause: "jwt_claims" } : { issuer, names, claims };
}
