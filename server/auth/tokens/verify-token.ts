import { hash } from "node:crypto";
import { errors, type JWTVerifyGetKey, type JWTVerifyOptions, type JWTVerifyResult, jwtVerify } from "jose";
import { keepNewest } from "../../context/bounded-map.ts";

/** Tokens that are remembered for their bad signature. */
const MAX_FAILED = 1_024;

/** Verifies a token as jose's `jwtVerify` does, with the errors that it throws. */
export type VerifyToken = (token: string, keys: JWTVerifyGetKey, options: JWTVerifyOptions) => Promise<JWTVerifyResult>;

/**
 * Creates a verifier that checks a token with a bad signature once: sent again, it costs no more than a bad key does
 * (threats b107). The verifier remembers a digest of the token and the key that it failed by. It verifies the token
 * again once the issuer's keys were fetched anew.
 */
export function createTokenVerifier(): VerifyToken {
  const failed = new Map<string, Awaited<ReturnType<JWTVerifyGetKey>>>();
  return async (token, keys, options) => {
    const digest = hash("sha256", token, "base64url");
    let key: Awaited<ReturnType<JWTVerifyGetKey>> | undefined;
    const keyOf: JWTVerifyGetKey = async (header, parts) => {
      key = await keys(header, parts);
      if (failed.get(digest) === key) throw new errors.JWSSignatureVerificationFailed();
      return key;
    };
    try {
      return await jwtVerify(token, keyOf, options);
    } catch (error) {
      // With a cause it is the verification that failed, and the token may be good.
      if (error instanceof errors.JWSSignatureVerificationFailed && error.cause === undefined && key !== undefined) {
        keepNewest(failed, digest, key, MAX_FAILED);
      }
      throw error;
    }
  };
}
