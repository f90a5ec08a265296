import { isUtf8 } from "node:buffer";
import { hash } from "node:crypto";
import { keyDigest, keyShape, MAX_KEY_LENGTH } from "../../domain/key/secret/key-format.ts";
import { isRecord } from "../../domain/manifest/document/identity.ts";
import { parseJson } from "../../domain/parse-json.ts";
import { redactKeys } from "../../domain/redact.ts";
import { withoutMark } from "../http/bodies/json-body.ts";

/** Maximum number of leaks in a report of Keyplane's own format. GitHub sends all that it has found at a time. */
export const MAX_LEAKS = 100;
const MAX_MATCHES = 1_000;
const MAX_URL = 512;

/** Secret that the caller reports as found. The secret itself is not kept. */
export type ReportedSecret = {
  /** SHA-256 as 32 latin1 characters; undefined for a text that cannot be a key. */
  readonly digest: string | undefined;
  /** True if the whole key was sent: a caller who has only a hash may have found no leak at all. */
  readonly isWhole: boolean;
};

/** Match of GitHub's secret scanning. */
export type GithubMatch = ReportedSecret & {
  /** SHA-256 in hex of the token, even if it cannot be a key. */
  readonly tokenHash: string;
  readonly tokenType: string | undefined;
  /** URL as it was sent, for {@link shownUrl}. */
  readonly url: string | undefined;
};

export type Report =
  | { readonly format: "keyplane"; readonly leaks: readonly ReportedSecret[]; readonly dryRun: boolean }
  | { readonly format: "github"; readonly leaks: readonly GithubMatch[] };

/**
 * Parses a report in either format: `{"leaks": [{"key"} or {"sha256"}], "dryRun"}`, or GitHub's list of `{"token",
 * "type", "url", "source"}`. undefined for any other body, without a reason: an error's text would quote it.
 */
export function readReport(body: unknown): Report | undefined {
  const given = Buffer.isBuffer(body) && isUtf8(body) ? parseJson(withoutMark(body).toString()) : undefined;
  if (Array.isArray(given)) return readMatches(given);
  if (!isRecord(given) || !Array.isArray(given.leaks)) return undefined;
  const { leaks, dryRun = false, ...others } = given;
  if (typeof dryRun !== "boolean" || Object.keys(others).length > 0 || leaks.length > MAX_LEAKS) return undefined;
  const read = leaks.map(readLeak);
  return allRead(read) ? { format: "keyplane", leaks: read, dryRun } : undefined;
}

function readLeak(leak: unknown): ReportedSecret | undefined {
  if (!isRecord(leak) || Object.keys(leak).length !== 1) return undefined;
  const { key, sha256 } = leak;
  if (typeof key === "string") return { digest: digestOf(key), isWhole: true };
  if (typeof sha256 !== "string" || !/^[0-9a-f]{64}$/i.test(sha256)) return undefined;
  return { digest: Buffer.from(sha256, "hex").toString("latin1"), isWhole: false };
}

function readMatches(given: readonly unknown[]): Report | undefined {
  if (given.length > MAX_MATCHES) return undefined;
  const leaks = given.map((match): GithubMatch | undefined => {
    if (!isRecord(match) || typeof match.token !== "string") return undefined;
    const { token, type, url } = match;
    return {
      digest: digestOf(token),
      isWhole: true,
      tokenHash: hash("sha256", token),
      tokenType: typeof type === "string" && /^[\w.-]{1,100}$/.test(type) ? type : undefined,
      url: typeof url === "string" ? url : undefined,
    };
  });
  return allRead(leaks) ? { format: "github", leaks } : undefined;
}

function allRead<T>(read: readonly (T | undefined)[]): read is readonly T[] {
  return !read.includes(undefined);
}

/**
 * Returns the digest by which a request with this text would be decided, if any. A text too long to be a key is not
 * hashed.
 */
function digestOf(text: string): string | undefined {
  if (text.length > MAX_KEY_LENGTH) return undefined;
  const shape = keyShape(text);
  return shape === "minted" || shape === "imported-format" ? keyDigest(text) : undefined;
}

/**
 * Returns the URL where a secret was found as it may be kept: without query, fragment, credentials or a key. Only for a
 * report that GitHub has signed: what it takes grows with the square of a host's letters.
 */
export function shownUrl(text: string): string | undefined {
  if (!URL.canParse(text)) return undefined;
  const { protocol, origin, pathname } = new URL(text);
  return protocol === "https:" ? redactKeys(`${origin}${pathname}`).slice(0, MAX_URL) : undefined;
}
