import { decodeJwt, errors, type JWTPayload, type JWTVerifyGetKey } from "jose";
import type { Clock } from "../../../runtime/clock.ts";
import type { LogoutRequest } from "../../../store/sessions/sessions.ts";
import type { ConsoleClient } from "../../context/config.ts";
import { createIssuerKeys } from "../tokens/issuer-keys.ts";
import { CLOCK_SKEW_S, SIGNATURE_ALGORITHMS } from "../tokens/jwt.ts";
import { createTokenVerifier, type VerifyToken } from "../tokens/verify-token.ts";

const EVENT = "http://schemas.openid.net/event/backchannel-logout";
/** Types of a logout token: explicit, or as issuers wrote it before. */
const TYPES: ReadonlySet<unknown> = new Set([undefined, "logout+jwt", "application/logout+jwt", "JWT"]);
/** Age of a token at most, in seconds. */
const MAX_AGE_S = 300;
const MAX_LENGTH = 8_192;
const MAX_ID = 255;
/** Milliseconds for which a used token is remembered: longer than it could be taken again. */
const KEPT_MS = (MAX_AGE_S + 2 * CLOCK_SKEW_S) * 1_000;

/**
 * Creates the validator of logout tokens of the console's issuers (OpenID Connect Back-Channel Logout §2.6). The
 * database ensures that each is used once.
 *
 * @returns a function that returns undefined for a token that ends nothing, and throws IssuerUnavailableError if the
 *   issuer's keys cannot be fetched
 */
export function createLogoutValidator(
  clients: readonly ConsoleClient[],
  clock: Clock,
): (token: string) => Promise<LogoutRequest | undefined> {
  const known = new Map(
    clients.map(({ issuer, clientId }) => [issuer, { clientId, keys: createIssuerKeys(issuer, clock.monotonic) }]),
  );
  const verifyToken = createTokenVerifier();
  return async (token) => {
    if (token.length > MAX_LENGTH) return undefined;
    try {
      const { iss: issuer = "" } = decodeJwt(token);
      const client = known.get(issuer);
      return client && (await verify(token, issuer, { ...client, verifyToken }, clock.now()));
    } catch (error) {
      if (error instanceof errors.JOSEError || error instanceof TypeError || error instanceof DOMException) {
        return undefined;
      }
      throw error;
    }
  };
}

type Verifier = { readonly clientId: string; readonly keys: JWTVerifyGetKey; readonly verifyToken: VerifyToken };

async function verify(
  token: string,
  issuer: string,
  { clientId, keys, verifyToken }: Verifier,
  now: number,
): Promise<LogoutRequest | undefined> {
  const { payload, protectedHeader } = await verifyToken(token, keys, {
    ...{ issuer, audience: clientId, algorithms: SIGNATURE_ALGORITHMS, currentDate: new Date(now) },
    ...{ maxTokenAge: MAX_AGE_S, clockTolerance: CLOCK_SKEW_S, requiredClaims: ["iat", "jti", "aud"] },
  });
  return TYPES.has(protectedHeader.typ) ? requestOf(issuer, payload) : undefined;
}

/**
 * Reads a logout from verified claims as they were signed, whatever the library's types say of them; undefined if they
 * are none.
 */
function requestOf(issuer: string, { events, nonce, jti, sub, sid }: JWTPayload): LogoutRequest | undefined {
  if (nonce !== undefined || !isLogout(events) || !isName(jti)) return undefined;
  if ((sub !== undefined && !isName(sub)) || (sid !== undefined && !isName(sid))) return undefined;
  if (sub === undefined && sid === undefined) return undefined;
  return { issuer, jti, keptMs: KEPT_MS, ...(sub && { subject: sub }), ...(sid && { sid }) };
}

function isLogout(events: unknown): boolean {
  if (typeof events !== "object" || events === null || !Object.hasOwn(events, EVENT)) return false;
  const event: unknown = Reflect.get(events, EVENT);
  return typeof event === "object" && event !== null;
}

function isName(value: unknown): value is string {
  return typeof value === "string" && value.length > 0 && value.length <= MAX_ID && /^[ -~]*$/.test(value);
}
