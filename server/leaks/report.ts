import { isUtf8 } from "node:buffer";
import { hash } from "node:crypto";
import { keyDigest, keyShape, MAX_KEY_LENGTH } from "../../domain/key/secret/key-format.ts";
import { isRecord } from "../../domain/manifest/document/identity.ts";
import { redactKeys } from "../../domain/redact.ts";
import { withoutMark } from "../http/bodies/json-body.ts";

/** As many leaks as one report of our own format may have; GitHub sends what it has found at a time. */
export const MAX_LEAKS = 100;
const MAX_MATCHES = 1_000;
const MAX_URL = 512;

/** One secret that the caller reports as found. The secret itself is not kept. */
export type ReportedSecret = {
  /** SHA-256 as 32 latin1 characters; undefined for what cannot be a key. */
  readonly digest: string | undefined;
  /** Whether the whole key was sent: a caller who has only a hash may have found no leak at all. */
  readonly isWhole: boolean;
};

/** A match of GitHub's secret scanning. */
export type GithubMatch = ReportedSecret & {
  /** SHA-256 of the token in hex, whatever it is. */
  readonly tokenHash: string;
  readonly tokenType: string | undefined;
  readonly url: string | undefined;
};

export type Report =
  | { readonly format: "keyplane"; readonly leaks: readonly ReportedSecret[]; readonly dryRun: boolean }
  | { readonly format: "github"; readonly leaks: readonly GithubMatch[] };

/**
 * Reads a report in either format: `{"leaks": [{"key"} or {"sha256"}], "dryRun"}`, or GitHub's list of
 * `{"token", "type", "url", "source"}`. Undefined for any other body, without a reason: an error's text would quote it.
 */
export function readReport(body: unknown): Report | undefined {
  const given = Buffer.isBuffer(body) ? parseJson(body) : undefined;
  if (Array.isArray(given)) return readMatches(given);
  if (!isRecord(given) || !Array.isArray(given.leaks)) return undefined;
  const { leaks, dryRun = false, ...others } = given;
  if (typeof dryRun !== "boolean" || Object.keys(others).length > 0 || leaks.length > MAX_LEAKS) return undefined;
  const read = leaks.map(readLeak);
  return allRead(read) ? { format: "keyplane", leaks: read, dryRun } : undefined;
}

function parseJson(body: Buffer): unknown {
  if (!isUtf8(body)) return undefined;
  try {
    return JSON.parse(withoutMark(body).toString());
  } catch {
    return undefined;
  }
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
      url: typeof url === "string" ? shownUrl(url) : undefined,
    };
  });
  return allRead(leaks) ? { format: "github", leaks } : undefined;
}

function allRead<T>(read: readonly (T | undefined)[]): read is readonly T[] {
  return !read.includes(undefined);
}

/** The digest by which a request with this text would be decided, if any; one too long to be a key is not hashed. */
function digestOf(text: string): string | undefined {
  if (text.length > MAX_KEY_LENGTH) return undefined;
  const shape = keyShape(text);
  return shape === "minted" || shape === "imported-format" ? keyDigest(text) : undefined;
}

/** Where it was found, as it may be kept: without query, fragment and credentials, and without a key. */
function shownUrl(text: string): string | undefined {
  if (!URL.canParse(text)) return undefined;
  const { protocol, origin, pathname } = new URL(text);
  return protocol === "https:" ? redactKeys(`${origin}${pathname}`).slice(0, MAX_URL) : undefined;
}
