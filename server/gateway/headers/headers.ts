import type { IncomingHttpHeaders } from "node:http";
import type { Dialect } from "../../../domain/access/key-record.ts";
import { isReadCoding } from "../tokens/decoded-reader.ts";
import { maskHeader, type Needle } from "./credential-mask.ts";
import { type SeenNames, spellingOf } from "./header-names.ts";

/** Sent with every answer under `/g/`: a browser that is led there runs nothing of it on our origin. */
export const INERT_HEADERS: readonly string[] = [
  "x-content-type-options",
  "nosniff",
  "content-security-policy",
  "sandbox; default-src 'none'; frame-ancestors 'none'",
];
export const ROUTE_ID_HEADER = "x-keyplane-route-id";

/** How each dialect carries the provider's credential: name and value. */
const CREDENTIAL_HEADER: Readonly<Record<Dialect, (credential: string) => readonly [string, string]>> = {
  openai: (credential) => ["authorization", `Bearer ${credential}`],
  gemini: (credential) => ["x-goog-api-key", credential],
  anthropic: (credential) => ["x-api-key", credential],
};

export function credentialHeader(dialect: Dialect, credential: string): readonly [string, string] {
  return CREDENTIAL_HEADER[dialect](credential);
}

/** A request's head, read in one pass. */
export type RequestHead = {
  /** Names and values in turn: what goes upstream beside the provider's credential and the length. */
  readonly forwarded: readonly string[];
  /** The declared length; undefined where the body comes in chunks. */
  readonly contentLength: number | undefined;
  /** Undefined where there is none; the empty string where there are several, which is no media type. */
  readonly contentType: string | undefined;
  readonly contentEncoding: string | undefined;
};

/**
 * Reads a request's head for forwarding. What its Connection header lists is taken out here, before anything of ours is
 * added, so that a client cannot have our headers dropped; a header that holds a key of ours is dropped, whatever its
 * name.
 *
 * @param vendorHeader the configured carrier, in lower case
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
    if (notForwarded || lower === vendorHeader || value.includes("inf_")) continue;
    forwarded.push(name, lower === "accept-encoding" ? readCodingsOf(value) : value);
  }
  if (listed !== undefined) forwarded = withoutListed(forwarded, listed);
  return { forwarded, contentLength, contentType, contentEncoding };
}

/** Of the codings in which a caller takes an answer those that are read for what it used. */
function readCodingsOf(accepted: string): string {
  if (USUAL_CODINGS.test(accepted)) return accepted;
  const read = accepted.split(",").filter((offer) => isReadCoding((offer.split(";")[0] ?? "").trim().toLowerCase()));
  return read.length === 0 ? "identity" : read.join(",").trim();
}

/** What most clients take, and all of it is read. */
const USUAL_CODINGS = /^gzip, ?deflate(?:, ?br)?$/;

/** A head without what an upstream may read a model in: for a request whose model is decided on. */
export function withoutModels(head: RequestHead): RequestHead {
  return { ...head, forwarded: filtered(head.forwarded, (name) => !spellingOf(name).namesModel) };
}

/**
 * The head to send to an upstream.
 *
 * @param contentLength for a body that is streamed with a known length
 * @param traced names and values in turn of what carries a trace on, in the place of what the caller sent of its own
 */
export function upstreamHeaders(
  { forwarded }: RequestHead,
  [name, credential]: readonly [string, string],
  contentLength: number | undefined,
  traced?: readonly string[],
): string[] {
  const headers = traced === undefined ? forwarded.slice() : [...filtered(forwarded, isNoTrace), ...traced];
  headers.push(name, credential);
  if (contentLength !== undefined) headers.push("content-length", String(contentLength));
  return headers;
}

function isNoTrace(name: string): boolean {
  const { lower } = spellingOf(name);
  return lower !== "traceparent" && lower !== "tracestate";
}

/** An upstream's head, read in one pass. */
type ResponseHead = {
  /** Names and values in turn: what goes to the client. */
  readonly returned: string[];
  /** Of the first header of the name; undefined where there is none. */
  readonly encoding: string | undefined;
  readonly type: string | undefined;
  readonly length: string | undefined;
};

/** An upstream's head as the dispatcher hands it out. */
export type UpstreamHead = {
  /** Names and values in turn, as they came. */
  readonly raw: readonly (Buffer | string)[];
  /** The same, decoded: by name in lower case, those of one name together. */
  readonly parsed: Readonly<IncomingHttpHeaders>;
};

/**
 * Reads an upstream's head for its client, who is shown each name as it was spelt.
 *
 * @param names of the heads that came from there before
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
    else if (lower === "content-encoding") encoding ??= value;
    else if (lower === "content-type") type ??= value;
    else if (lower === "content-length") length ??= value;
    if (!notReturned) returned.push(maskHeader(needle, name), maskHeader(needle, value));
  }
  if (listed !== undefined) returned = withoutListed(returned, listed);
  returned.push(...INERT_HEADERS);
  if (routeId !== undefined) returned.push(ROUTE_ID_HEADER, routeId);
  return { returned, encoding, type, length };
}

function latin1(text: Buffer | string | undefined): string {
  return typeof text === "string" ? text : (text?.toString("latin1") ?? "");
}

/** The value of a header in a flat list; undefined for none, the first of several. */
export function headerOf(raw: readonly string[], name: string): string | undefined {
  for (let i = 0; i + 1 < raw.length; i += 2) {
    const found = raw[i] ?? "";
    if (found.length === name.length && found.toLowerCase() === name) return raw[i + 1];
  }
  return undefined;
}

/** The two options that list no header, and are what nearly every Connection header says. */
const OPTIONS: ReadonlySet<string> = new Set(["keep-alive", "close"]);
/** A body's frame is not the sender's to list: without them, what follows would be read as another message. */
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

/** Of names and values in turn, those whose name may stay. */
function filtered(headers: readonly string[], mayStay: (name: string) => boolean): string[] {
  const kept: string[] = [];
  for (let i = 0; i + 1 < headers.length; i += 2) {
    const name = headers[i] ?? "";
    if (mayStay(name)) kept.push(name, headers[i + 1] ?? "");
  }
  return kept;
}
