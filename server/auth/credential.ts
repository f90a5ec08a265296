import type { CredentialCause } from "../../domain/access/key-state.ts";
import { MAX_KEY_LENGTH } from "../../domain/key/secret/key-format.ts";

/** Carriers of a key in a request, in the order in which they apply (spec §2.1). */
export const CARRIERS = ["vendor", "query", "bearer", "x-api-key"] as const;
export type Carrier = (typeof CARRIERS)[number];

/**
 * Credential of a request: the text of the carrier that applies, or the reason why there is none that could be a key.
 */
type Presented =
  | { readonly carrier: Carrier; readonly key: string }
  | { readonly carrier: Carrier | undefined; readonly bad: CredentialCause };

const MISSING: Presented = { carrier: undefined, bad: "missing" };
const REPEATED: Presented = { carrier: undefined, bad: "repeated_carrier" };
const MALFORMED: Readonly<Record<Carrier, Presented>> = {
  vendor: { carrier: "vendor", bad: "malformed" },
  query: { carrier: "query", bad: "malformed" },
  bearer: { carrier: "bearer", bad: "malformed" },
  "x-api-key": { carrier: "x-api-key", bad: "malformed" },
};

/**
 * Finds the credential of a request (spec §2.1). The first carrier that is not empty applies, and no other. A carrier
 * that appears twice is refused in any case, since two readers of it could take two different keys.
 *
 * @param rawHeaders names and values in turn, as Node's parser gives them
 * @param url the request's target as it was sent
 * @param vendorHeader the configured first carrier, in lower case
 */
export function extractCredential(rawHeaders: readonly string[], url: string, vendorHeader: string): Presented {
  let vendor: string | undefined;
  let authorization: string | undefined;
  let xApiKey: string | undefined;
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] ?? "";
    if (isHeader(name, "authorization")) {
      if (authorization !== undefined) return REPEATED;
      authorization = rawHeaders[i + 1];
    } else if (isHeader(name, vendorHeader)) {
      if (vendor !== undefined) return REPEATED;
      vendor = rawHeaders[i + 1];
    } else if (isHeader(name, "x-api-key")) {
      if (xApiKey !== undefined) return REPEATED;
      xApiKey = rawHeaders[i + 1];
    }
  }
  const query = queryKey(url);
  if (query === null) return REPEATED;
  if (vendor) return bounded("vendor", vendor);
  if (query) return bounded("query", query);
  if (authorization) {
    const token = bearerToken(authorization);
    if (token === null) return MALFORMED.bearer;
    if (token) return bounded("bearer", token);
  }
  return xApiKey ? bounded("x-api-key", xApiKey) : MISSING;
}

/**
 * Returns the token of the Authorization header, if it is a Bearer credential; undefined if there is no such header or
 * more than one, or if the token is longer than any that is in use.
 */
export function readBearer(rawHeaders: readonly string[], maxLength: number): string | undefined {
  let authorization: string | undefined;
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    if (!isHeader(rawHeaders[i] ?? "", "authorization")) continue;
    if (authorization !== undefined) return undefined;
    authorization = rawHeaders[i + 1];
  }
  const token = authorization === undefined ? undefined : bearerToken(authorization);
  return token && token.length <= maxLength ? token : undefined;
}

/** True if a request presents a credential in any carrier, good or bad, or an `Authorization` of whatever scheme. */
export function presentsCredential(rawHeaders: readonly string[], url: string, vendorHeader: string): boolean {
  const hasAuthorization = rawHeaders.some((name, i) => i % 2 === 0 && isHeader(name, "authorization"));
  const presented = extractCredential(rawHeaders, url, vendorHeader);
  return hasAuthorization || !("bad" in presented) || presented.bad !== "missing";
}

/** Refuses a credential that is too long or has a comma, before a checksum or a hash is computed. */
function bounded(carrier: Carrier, key: string): Presented {
  if (key.length > MAX_KEY_LENGTH) return MALFORMED[carrier];
  return key.includes(",") ? REPEATED : { carrier, key };
}

function isHeader(name: string, wanted: string): boolean {
  return name.length === wanted.length && (name === wanted || name.toLowerCase() === wanted);
}

const SCHEME = "bearer";
/** Pattern of the characters that a scheme's name is made of (RFC 9110, token). */
const TOKEN_CHARACTER = /[!#$%&'*+\-.^_`|~0-9A-Za-z]/;

/**
 * Returns the token of a Bearer credential; undefined for another scheme or an empty token, which are no carrier; null
 * for a text that begins as a Bearer credential and is none: the scheme takes exactly one space behind it.
 */
function bearerToken(value: string): string | undefined | null {
  if (value.length < SCHEME.length || value.slice(0, SCHEME.length).toLowerCase() !== SCHEME) return undefined;
  if (value.length === SCHEME.length) return undefined;
  if (value.charCodeAt(SCHEME.length) === 32) return value.slice(SCHEME.length + 1) || undefined;
  return TOKEN_CHARACTER.test(value.charAt(SCHEME.length)) ? undefined : null;
}

const EQUALS = 61;

/**
 * Returns the value of the parameter `key`, decoded once as a form is; undefined for none, null if it appears twice.
 */
function queryKey(url: string): string | undefined | null {
  const start = url.indexOf("?");
  if (start === -1) return undefined;
  let found: string | undefined;
  for (let from = start + 1; from <= url.length; ) {
    let end = url.indexOf("&", from);
    if (end === -1) end = url.length;
    if (isKeyParameter(url, from, end)) {
      if (found !== undefined) return null;
      const equals = url.indexOf("=", from);
      found = equals === -1 || equals >= end ? "" : decodeForm(url.slice(equals + 1, end));
    }
    from = end + 1;
  }
  return found;
}

/** True if a query names the parameter `key`, in whatever way it is encoded. @param query without its question mark */
export function hasQueryKey(query: string): boolean {
  return query !== "" && queryKey(`?${query}`) !== undefined;
}

/** Characters of the name `key` if every one is percent-encoded. */
const MAX_NAME = 9;

/** True if the parameter at `from` is named `key`, in whatever way its letters are encoded. */
function isKeyParameter(url: string, from: number, end: number): boolean {
  if (url.startsWith("key", from)) return from + 3 === end || url.charCodeAt(from + 3) === EQUALS;
  const equals = url.indexOf("=", from);
  const nameEnd = equals === -1 || equals > end ? end : equals;
  if (nameEnd - from > MAX_NAME) return false;
  const name = url.slice(from, nameEnd);
  return name.includes("%") && decodeForm(name) === "key";
}

/** Decodes one part of a query. A part that cannot be decoded stays as it is, and is then no key. */
function decodeForm(text: string): string {
  if (!text.includes("%") && !text.includes("+")) return text;
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return text;
  }
}
