import { createLocalJWKSet, errors, type JWTVerifyGetKey } from "jose";
import { discover, endpointOf, fetchJson, IssuerUnavailableError } from "./issuer-http.ts";

/** Milliseconds after which keys are fetched again: by then a withdrawn key is withdrawn here. */
const KEYS_MAX_AGE_MS = 600_000;
/** Milliseconds at least between two fetches, failed ones too, however many tokens name keys that do not exist. */
const KEYS_MIN_INTERVAL_MS = 30_000;

/**
 * Finds the keys that an issuer signs with, where its discovery document says (OpenID Connect Discovery §4). They are
 * kept, and fetched again when a token names a key that is not among them: so a rotation is noticed.
 *
 * @param issuer exactly as its tokens name it
 * @param monotonic milliseconds on a clock that never jumps
 * @returns a function for `jwtVerify`; it throws {@link IssuerUnavailableError}, or jose's JWKSNoMatchingKey
 */
export function createIssuerKeys(issuer: string, monotonic: () => number): JWTVerifyGetKey {
  let known: { readonly keys: ReturnType<typeof createLocalJWKSet>; readonly at: number } | undefined;
  let askedAt = Number.NEGATIVE_INFINITY;
  let asking: Promise<void> | undefined;

  async function refresh(): Promise<void> {
    const at = monotonic();
    askedAt = at;
    try {
      known = { keys: createLocalJWKSet(await fetchKeys(issuer)), at };
    } catch (error) {
      throw new IssuerUnavailableError(issuer, { cause: error });
    }
  }

  /** Fetches the keys: one fetch at a time, however many callers need it. */
  function refreshOnce(): Promise<void> {
    asking ??= refresh().finally(() => {
      asking = undefined;
    });
    return asking;
  }

  const mayAsk = () => asking !== undefined || monotonic() - askedAt >= KEYS_MIN_INTERVAL_MS;
  const fresh = () => (known !== undefined && monotonic() - known.at < KEYS_MAX_AGE_MS ? known.keys : undefined);

  return async (header, token) => {
    if (fresh() === undefined && mayAsk()) await refreshOnce();
    const keys = fresh();
    if (keys === undefined) throw new IssuerUnavailableError(issuer);
    try {
      return await keys(header, token);
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey) || !mayAsk()) throw error;
      await refreshOnce();
      return (fresh() ?? keys)(header, token);
    }
  };
}

async function fetchKeys(issuer: string): Promise<Parameters<typeof createLocalJWKSet>[0]> {
  const uri = endpointOf(await discover(issuer), "jwks_uri");
  if (uri === undefined) throw new Error("the discovery document names no jwks_uri");
  const { keys } = await fetchJson(uri);
  if (!Array.isArray(keys)) throw new Error("the key set holds no keys");
  return { keys };
}
