import { createPublicKey, type KeyObject, verify } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { isRecord } from "../../domain/manifest/document/identity.ts";
import { fetchJson } from "../auth/tokens/issuer-http.ts";

/** Maximum age of the keys in milliseconds before they are fetched again, and while GitHub does not give them. */
const FRESH_MS = 3_600_000;
const USABLE_MS = 24 * 3_600_000;
/** Minimum milliseconds between two requests for the keys, however many reports name keys that do not exist. */
const MIN_INTERVAL_MS = 60_000;

/** Failure to fetch GitHub's keys, so that the signature of a report cannot be verified. */
export class GithubUnavailableError extends Error {
  constructor(options?: ErrorOptions) {
    super("the keys of GitHub's secret scanning could not be fetched", options);
    this.name = "GithubUnavailableError";
  }
}

/** Signature of a report by GitHub, from its headers. */
export type GithubSignature = { readonly keyId: string; readonly signature: Buffer };

/** Reads the signature that a request presents; undefined if it presents none. */
export function githubSignature(headers: IncomingHttpHeaders): GithubSignature | undefined {
  const [keyId, signature] = [headers["github-public-key-identifier"], headers["github-public-key-signature"]];
  if (typeof keyId !== "string" || typeof signature !== "string") return undefined;
  return { keyId, signature: Buffer.from(signature, "base64") };
}

type KnownKeys = { readonly keys: ReadonlyMap<string, KeyObject>; readonly at: number };

/**
 * Creates the verifier of GitHub's signatures: ECDSA over P-256 and SHA-256 of the body as it was sent, by a key that
 * GitHub shows at `url`. The keys are kept for an hour, or for a day while they cannot be fetched. They are fetched
 * again if a report names a key that is not among them.
 *
 * @param monotonic milliseconds on a clock that never jumps
 * @returns verifier, which throws {@link GithubUnavailableError}
 */
export function createGithubVerifier(
  url: string,
  monotonic: () => number,
): (signed: GithubSignature, body: Buffer) => Promise<boolean> {
  let known: KnownKeys | undefined;
  let askedAt = Number.NEGATIVE_INFINITY;
  let asking: Promise<void> | undefined;
  let failure: unknown;

  async function refresh(): Promise<void> {
    const at = monotonic();
    askedAt = at;
    try {
      known = { keys: await fetchKeys(url), at };
      failure = undefined;
    } catch (error) {
      failure = error;
    }
  }

  /** Fetches the keys, once at a time and once a minute at most, however many reports need them. */
  async function refreshOnce(): Promise<void> {
    if (asking === undefined && monotonic() - askedAt < MIN_INTERVAL_MS) return;
    asking ??= refresh().finally(() => {
      asking = undefined;
    });
    await asking;
  }

  const isWithin = (ms: number) => known !== undefined && monotonic() - known.at < ms;

  return async ({ keyId, signature }, body) => {
    if (!isWithin(FRESH_MS) || !known?.keys.has(keyId)) await refreshOnce();
    if (known === undefined || !isWithin(USABLE_MS)) throw new GithubUnavailableError({ cause: failure });
    const key = known.keys.get(keyId);
    // A key that is new since is not known while they cannot be fetched.
    if (key === undefined && failure !== undefined) throw new GithubUnavailableError({ cause: failure });
    return key !== undefined && verify("sha256", body, key, signature);
  };
}

async function fetchKeys(url: string): Promise<ReadonlyMap<string, KeyObject>> {
  const { public_keys: given } = await fetchJson(url);
  if (!Array.isArray(given)) throw new Error("the answer holds no public_keys");
  return new Map(given.flatMap((entry: unknown) => readKey(entry)));
}

/** Reads a key; none unless it is on P-256, since another kind of key would be verified by other rules. */
function readKey(entry: unknown): [string, KeyObject][] {
  if (!isRecord(entry) || typeof entry.key_identifier !== "string" || typeof entry.key !== "string") return [];
  try {
    const key = createPublicKey(entry.key);
    const isP256 = key.asymmetricKeyType === "ec" && key.asymmetricKeyDetails?.namedCurve === "prime256v1";
    return isP256 ? [[entry.key_identifier, key]] : [];
  } catch {
    return [];
  }
}
