import type { IncomingHttpHeaders } from "node:http";
import type { Dialect } from "../../../domain/access/key-record.ts";
import { mayContainKey } from "../../../domain/redact.ts";
import { codingOf } from "../tokens/answer-tap.ts";
import { isReadCoding } from "../tokens/decoded-reader.ts";
import { maskHeader, type Needle } from "./credential-mask.ts";
import { type SeenNames, spellingOf } from "./header-names.ts";

/** Headers of every answer under `/g/`: a browser that is led there runs nothing of it on our origin. */
export const INERT_HEADERS: readonly string[] = [
  "x-content-type-options",
  "nosniff",
  "content-security-policy",
  "sandbox; default-src 'none'; frame-ancestors 'none'",
];
export const ROUTE_ID_HEADER = "x-keyplane-route-id";

/** Name and value of the header that carries a provider's credential; empty for no credential. */
export type CredentialHeader = readonly [] | readonly [name: string, value: string];

/** Header that carries the provider's credential, by dialect: name and value. */
const CREDENTIAL_HEADER: Readonly<Record<Dialect, (credential: string) => readonly [string, string]>> = {
  openai: (credential) => ["authorization", `Bearer ${credential}`],
  gemini: (credential) => ["x-goog-api-key", credential],
  anthropic: (credential) => ["x-api-key", credential],
};

/** Returns the name and value of that header, and nothing for an upstream that is declared without a credential. */
export function credentialHeader(dialect: Dialect, credential: string | false): CredentialHeader {
  return credential === false ? [] : CREDENTIAL_HEADER[dialect](credential);
}

/** A request's head, read in one pass. */
export type RequestHead = {
  /** Names and values in turn of the headers that go upstream, beside the provider's credential and the length. */
  readonly forwarded: readonly string[];
  /** Declared length; undefined if the body is chunked. */
  readonly contentLength: number | undefined;
  /** Media type; undefined if there is none, and the empty string, which is no media type, if there are several. */
  readonly contentType: string | undefined;
  readonly contentEncoding: string | undefined;
};

/**
 * Reads a request's head for forwarding. The headers that its Connection header lists are taken out here, before any of
 * ours are added, so that a client cannot have our headers dropped. A header that holds a key of ours is dropped,
 * whatever its name.
 *
 * @param vendorHeader the configured carrier of a key, in lower case
 */
export function readHead(rawHeaders: readonly string[], vendorHeader: string): RequestHead {
  let forwarded: string[] = [];
  let listed: Set<string> | undefined;
  let contentLength: number | undefined;
  let contentType: string | undefined;
  let contentEncoding: string | undefined;
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] ?? "";
    const value = rawHeaders[i + 1] ?? "";
    const { lower, notForwarded } = spellingOf(name);
    if (lower === "connection") listed = addListed(listed, value);
    else if (lower === "content-length") contentLength = Number(value);
    else if (lower === "content-type") contentType = contentType === undefined ? value : "";
    else if (lower === "content-encoding")
      contentEncoding = contentEncoding === undefined ? value : `${contentEncoding},${value}`;
    if (notForwarded || lower === vendorHeader || mayContainKey(value)) continue;
    forwarded.push(name, lower === "accept-encoding" ? readCodingsOf(value) : value);
  }
  if (listed !== undefined) forwarded = withoutListed(forwarded, listed);
  return { forwarded, contentLength, contentType, contentEncoding };
}

/** Returns, of the codings that a caller accepts, those in which an answer's usage can be read. */
function readCodingsOf(accepted: string): string {
  if (USUAL_CODINGS.test(accepted)) return "gzip, deflate";
  const read = accepted.split(",").filter((offer) => isReadCoding((offer.split(";")[0] ?? "").trim().toLowerCase()));
  return read.length === 0 ? "identity" : read.join(",").trim();
}

/** Pattern of the codings that most clients accept. */
const USUAL_CODINGS = /^gzip, ?deflate(?:, ?br(?:, ?zstd)?)?$/;

function namesModel(name: string): boolean {
  return spellingOf(name).namesModel;
}

/** Returns a head without the headers in which an upstream may read a model, for a request whose model is checked. */
export function withoutModels(head: RequestHead): RequestHead {
  if (!head.forwarded.some((name, i) => i % 2 === 0 && namesModel(name))) return head;
  return { ...head, forwarded: filtered(head.forwarded, (name) => !namesModel(name)) };
}

/** Headers that ask for an answer in a coding, or for a part of it; `request-range` is an old name of `range`. */
const FORMS_OF_ANSWER: ReadonlySet<string> = new Set(["accept-encoding", "range", "if-range", "request-range"]);

/** Returns a head that asks for all of an answer, in no coding. */
export function withWholeAnswer(head: RequestHead): RequestHead {
  const isKept = (name: string) => !FORMS_OF_ANSWER.has(spellingOf(name).lower.replace(/[^a-z0-9]/g, "-"));
  const forwarded = filtered(head.forwarded, isKept);
  return { ...head, forwarded: [...forwarded, "accept-encoding", "identity"] };
}

/**
 * Returns the head to send to an upstream.
 *
 * @param contentLength length of a body that is streamed, if it is known
 * @param traced names and values in turn of the headers that carry a trace on; they replace the caller's own
 */
export function upstreamHeaders(
  { forwarded }: RequestHead,
  credential: CredentialHeader,
  contentLength: number | undefined,
  traced?: readonly string[],
): string[] {
  const headers = traced === undefined ? forwarded : filtered(forwarded, isNoTrace).concat(traced);
  return contentLength === undefined
    ? headers.concat(credential)
    : headers.concat(credential, ["content-length", String(contentLength)]);
}

function isNoTrace(name: string): boolean {
  const { lower } = spellingOf(name);
  return lower !== "traceparent" && lower !== "tracestate";
}

/** An upstream's head, read in one pass. */
type ResponseHead = {
  /** Names and values in turn of the headers that go to the client. */
  readonly returned: string[];
  /** First coding that is named, but for `identity`, which is none; undefined if there is none. */
  readonly encoding: string | undefined;
  /** Value of the first header of the name, as for `length`; undefined if there is none. */
  readonly type: string | undefined;
  readonly length: string | undefined;
};

/** An upstream's head as the dispatcher hands it out. */
export type UpstreamHead = {
  /** Names and values in turn, as they came. */
  readonly raw: readonly (Buffer | string)[];
  /** The same headers, decoded, by name in lower case; several of one name stand together. */
  readonly parsed: Readonly<IncomingHttpHeaders>;
};

/**
 * Reads an upstream's head for its client, who is shown each name as it was spelt.
 *
 * @param names names of the headers that came from there before
 * @param needle the credential that was sent, and must not return
 */
export function readResponseHead(
  { raw, parsed }: UpstreamHead,
  names: SeenNames,
  routeId: string | undefined,
  needle: Needle,
): ResponseHead {
  let returned: string[] = [];
  let listed: Set<string> | undefined;
  let encoding: string | undefined;
  let type: string | undefined;
  let length: string | undefined;
  for (let i = 0; i + 1 < raw.length; i += 2) {
    const bytes = raw[i] ?? "";
    const { name, lower, notReturned } =
      typeof bytes === "string" ? spellingOf(bytes) : names.spellingOf(bytes, i >>> 1);
    const decoded = parsed[lower];
    const value = typeof decoded === "string" ? decoded : latin1(raw[i + 1]);
    if (lower === "connection") listed = addListed(listed, value);
    else if (lower === "content-encoding" && codingOf(value) !== "identity") encoding ??= value;
    else if (lower === "content-type") type ??= value;
    else if (lower === "content-length") length ??= value;
    if (!notReturned) returned.push(maskHeader(needle, name), maskHeader(needle, value));
  }
  if (listed !== undefined) returned = withoutListed(returned, listed);
  returned.push(...INERT_HEADERS);
  if (routeId !== undefined) returned.push(ROUTE_ID_HEADER, routeId);
  return { returned, encoding, type, length };
}

/** Returns headers that state this length of the body. */
export function withLength(headers: readonly string[], length: number): string[] {
  return [...filtered(headers, (name) => name.toLowerCase() !== "content-length"), "content-length", String(length)];
}

function latin1(text: Buffer | string | undefined): string {
  return typeof text === "string" ? text : (text?.toString("latin1") ?? "");
}

/** Returns the value of a header in a flat list: of several, the first; undefined for none. */
export function headerOf(raw: readonly string[], name: string): string | undefined {
  for (let i = 0; i + 1 < raw.length; i += 2) {
    const found = raw[i] ?? "";
    if (found.length === name.length && found.toLowerCase() === name) return raw[i + 1];
  }
  return undefined;
}

/** Options of a Connection header that list no header. Nearly every Connection header has nothing else. */
const OPTIONS: ReadonlySet<string> = new Set(["keep-alive", "close"]);
/**
 * Headers that a Connection header cannot list: they frame the body, and without them what follows would be read as
 * another message.
 */
const UNLISTABLE: ReadonlySet<string> = new Set(["content-length", "content-type", "content-encoding"]);

function addListed(listed: Set<string> | undefined, value: string): Set<string> | undefined {
  if (OPTIONS.has(value)) return listed;
  const names = value.split(",").map((name) => name.trim().toLowerCase());
  const headers = names.filter((name) => name !== "" && !OPTIONS.has(name) && !UNLISTABLE.has(name));
  return headers.length === 0 ? listed : new Set([...(listed ?? []), ...headers]);
}

function withoutListed(headers: readonly string[], listed: ReadonlySet<string>): string[] {
  return filtered(headers, (name) => !listed.has(name.toLowerCase()));
}

/** Returns names and values in turn without the headers whose name may not stay. */
function filtered(headers: readonly string[], mayStay: (name: string) => boolean): string[] {
  const kept: string[] = [];
  for (let i = 0; i + 1 < headers.length; i += 2) {
    const name = headers[i] ?? "";
    if (mayStay(name)) kept.push(name, headers[i + 1] ?? "");
  }
  return kept;
}
