import type { KeptObjects } from "../../../domain/access/gateway-operations.ts";
import type { UpstreamRecord } from "../../../domain/access/key-record.ts";
import { type Problem, problem } from "../../http/problems/problem.ts";
import { pathPrefixes } from "../request-target.ts";
import type { ReadId } from "./reference-scan.ts";
import type { JsonObject } from "./whole-answer.ts";

const UPLOADS = "upload/v1beta/files";
const SESSION = "upload_id";
/** Hosts whose files Gemini finds by its own ids, as {@link hostOf} returns them: Google's but for its object stores. */
const GOOGLE = /^(?!(?:.*\.)?(?:|commondata|firebase)storage\.googleapis\.com:)(?:.*\.)?googleapis\.com:/;

/**
 * Pattern of a URL's beginning up to its path: a host in ASCII, since what it takes to read another grows with the square
 * of its letters, with nothing that parsers strip, or end a host at, in different ways.
 */
const PLAIN_ORIGIN = /^https?:\/\/[\w.:[\]-]{1,255}(?=[/?#]|$)/i;
/** Pattern of the name of a file, as an answer spells it. */
const FILE = /^files\/([a-z0-9-]{1,64})$/;
/** Patterns of a file's URI, as an answer spells it: of its end, and of what comes before. */
const URI_END = /\/v1(?:alpha|beta)?\/files\/([a-z0-9-]{1,64})$/;
const URI_BEGINNING = /^https?:\/\/[\w.:-]+(?:\/[\w.-]+)*$/;
/** Characters of the longest end of a URI. */
const MAX_URI_END = "/v1alpha/files/".length + 64;
/** Pattern of the name of a cached content, as an answer spells it. */
const CACHED = /^cachedContents\/([\w-]{1,128})$/;

/**
 * Creates the reader of what a body names: a cached content by its name; a file of Gemini's by its name or its URI, spelt
 * as an answer spells it; or what is elsewhere, and is no object of the upstream's. Any other spelling, and any store, is
 * an id that no team has.
 */
export function geminiNameReader(upstreams: readonly UpstreamRecord[]): ReadId {
  const hosts = new Set(upstreams.map(({ baseUrl }) => hostOf(new URL(baseUrl))));
  return (kind, text) => {
    if (kind === "cache") return CACHED.exec(text)?.[1] ?? text;
    if (kind === "search store") return text;
    if (/^gs:/i.test(text)) return undefined;
    const url = URL.parse(PLAIN_ORIGIN.exec(text)?.[0] ?? "");
    if (url === null && !text.startsWith("files/")) return text;
    if (url !== null && !GOOGLE.test(hostOf(url)) && !hosts.has(hostOf(url))) return undefined;
    return FILE.exec(text)?.[1] ?? idOfUri(text) ?? text;
  };
}

/** Returns the id of the file that a URI names; undefined for any other. Its end is looked at first: a URI may be long. */
function idOfUri(uri: string): string | undefined {
  const end = URI_END.exec(uri.slice(-MAX_URI_END));
  return end !== null && URI_BEGINNING.test(uri.slice(0, -end[0].length)) ? end[1] : undefined;
}

/** Returns the id of a file that an answer names as what a batch has made; undefined for any other name. */
export function fileNamed(name: string): string | undefined {
  return /^files\/(?!\.{1,2}$)([\w.~=-]{1,256})$/.exec(name)?.[1];
}

/** Returns a URL's host, without dots that may end its name, and its port; that is empty for the usual one. */
function hostOf({ hostname, port }: URL): string {
  return `${hostname.replace(/\.+$/, "")}:${port}`;
}

/** Returns a file with the URL of its content at the gateway: the provider's would have the key of the caller sent there. */
export function withOwnUrl(file: JsonObject, id: string | undefined, gatewayUrl: string): JsonObject {
  if (file.downloadUri === undefined) return file;
  const { downloadUri: _theirs, ...rest } = file;
  return id === undefined ? rest : { ...rest, downloadUri: `${gatewayUrl}/v1beta/files/${id}:download?alt=media` };
}

/** Call of a resumable upload: the session that it goes on with, undefined for the first; and the query to ask with. */
export type ResumedUpload = { readonly session: string | undefined; readonly query: string };

/**
 * Reads which call of a resumable upload a request is.
 *
 * @returns the call, or the problem to answer to one of another protocol
 */
export function resumedUpload(query: string, headers: readonly string[]): ResumedUpload | Problem {
  const sessions = new URLSearchParams(query).getAll(SESSION);
  const commands = valuesOf(headers, "x-goog-upload-command");
  const [session] = sessions;
  if (sessions.length > 1 || session === "" || commands.length !== 1) return NOT_RESUMABLE;
  const isStart = commands[0]?.trim().toLowerCase() === "start";
  if (session !== undefined) return isStart ? NOT_RESUMABLE : { session, query: sessionQuery(session) };
  const protocols = valuesOf(headers, "x-goog-upload-protocol");
  return isStart && protocols.length === 1 && protocols[0]?.trim().toLowerCase() === "resumable"
    ? { session: undefined, query: "" }
    : NOT_RESUMABLE;
}

/** Returns the session that an upstream has begun; undefined if it is to go on anywhere but at the same path there. */
export function sessionAt({ baseUrl, dialect }: UpstreamRecord, uploadUrl: string): string | undefined {
  const url = URL.parse(uploadUrl);
  const base = new URL(baseUrl);
  const path = `${pathPrefixes(base, dialect)["upload/v1beta"]}/files`;
  if (url === null || url.origin !== base.origin || url.pathname !== path) return undefined;
  const sessions = url.searchParams.getAll(SESSION);
  return sessions.length === 1 && sessions[0] !== "" ? sessions[0] : undefined;
}

/** Returns where a client goes on with a session. */
export function sessionUrl(gatewayUrl: string, session: string): string {
  return `${gatewayUrl}/${UPLOADS}?${sessionQuery(session)}`;
}

function sessionQuery(session: string): string {
  return new URLSearchParams({ [SESSION]: session, upload_protocol: "resumable" }).toString();
}

function valuesOf(headers: readonly string[], name: string): string[] {
  return headers.flatMap((each, at) => (at % 2 === 0 && each.toLowerCase() === name ? [headers[at + 1] ?? ""] : []));
}

/** Member by which the first call of an upload would choose the name of its file, which may be another team's. */
export const CHOSEN_NAME: KeptObjects = { mentioned: { members: { name: "file" }, but: {} } };

const NOT_RESUMABLE = problem(
  "invalid_request",
  "Upload by the resumable protocol: begin with `X-Goog-Upload-Protocol: resumable` and `X-Goog-Upload-Command: start`, and go on at the URL in `X-Goog-Upload-URL`.",
);

export const NAME_CHOSEN: Problem = problem(
  "invalid_request",
  "The body chooses a name for what it makes: leave `name` out, and take the one that the answer has.",
);

export const SESSION_ELSEWHERE: Problem = problem(
  "bad_gateway",
  "The upstream would have the upload go on elsewhere: that is not passed on.",
);
