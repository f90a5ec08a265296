import {
  type ApiVersion,
  GATEWAY_OPERATIONS,
  isForwarded,
  SERVED_OPERATIONS,
  type ServedAt,
  type ServedOperation,
} from "../../domain/access/gateway-operations.ts";
import type { Dialect } from "../../domain/access/key-record.ts";
import { containsWholeKey } from "../../domain/redact.ts";

/** Operation that a request under `/g/<public id>/` asks for, with the parts of its path. */
export type GatewayCall = {
  readonly operation: ServedOperation;
  readonly method: ServedAt["method"];
  /** Wire format of the path; undefined if three formats share the path and the caller's headers say which. */
  readonly dialect: Dialect | undefined;
  /** Path to request from an upstream; a model is left out of it and stands decoded in `model`. */
  readonly path: UpstreamPath;
  /** Model that the path names, decoded once; undefined if the path names none. */
  readonly model: string | undefined;
  /** Names of what an upstream keeps, as the path has them, decoded. */
  readonly names: readonly string[];
  /** Path as it stands in {@link SERVED_PATHS}. */
  readonly servedPath: ServedAt["path"];
};

/**
 * Parts of the path to request from an upstream, between which a model goes. Built from the operation, never copied
 * from the client's path.
 */
export type UpstreamPath = { readonly version: ApiVersion; readonly before: string; readonly after: string };

/** Path that is served behind `/g/<public id>/`, with a placeholder such as `{model}` for a name. */
export type ServedPath = Pick<GatewayCall, "operation" | "method" | "dialect"> & Pick<ServedAt, "path">;

/** Versions but for the usual one, as paths begin with them. */
const VERSIONS = ["upload/v1beta", "download/v1beta", "v1beta"] as const satisfies readonly ApiVersion[];

const PATHS = SERVED_OPERATIONS.flatMap((operation) =>
  GATEWAY_OPERATIONS[operation].served.map(({ method, path, dialect }): ServedPath => {
    return { method, path, dialect, operation };
  }),
);
const PLAIN = PATHS.filter(({ path }) => !path.includes("{"));
const NAMING = PATHS.filter(({ path }) => path.includes("{"));

/** Every path that {@link classify} recognises; paths with a placeholder come last. */
export const SERVED_PATHS: readonly ServedPath[] = [...PLAIN, ...NAMING];

/** Paths without a placeholder, each with its call, which is made once. */
const FIXED = PLAIN.map((served) => {
  const { version, rest } = partsOf(served.path);
  const call = callOf(served, { version, before: rest, after: "" }, undefined);
  return { method: served.method, rawPath: served.path, call };
});

/**
 * Paths with a placeholder for a model or for an object that an upstream keeps, split at the placeholder. Those
 * with the longest text around it come first, whatever the order of the rows.
 */
const NAMED = NAMING.map((served) => {
  const { version, rest } = partsOf(served.path);
  const [, before = "", name, between, after = ""] = /^(.*?)\{(\w+)\}(?:(.*)\{\w+\})?(.*)$/.exec(rest) ?? [];
  const isModel = name === "model";
  const isRead = !isForwarded(GATEWAY_OPERATIONS[served.operation]);
  const path: UpstreamPath = { version, before, after };
  return { method: served.method, begin: `${version}${before}`, between, end: after, served, path, isModel, isRead };
}).toSorted((a, b) => b.end.length - a.end.length || b.begin.length - a.begin.length);

function partsOf(path: string): { readonly version: ApiVersion; readonly rest: string } {
  const version = VERSIONS.find((each) => path.startsWith(`${each}/`)) ?? "v1";
  return { version, rest: path.slice(version.length) };
}

function callOf(
  { operation, method, dialect, path: servedPath }: ServedPath,
  path: UpstreamPath,
  model: string | undefined,
  names: readonly string[] = [],
): GatewayCall {
  return { operation, method, dialect, path, model, names, servedPath };
}

/** Pattern of a path as it comes off the wire: no semicolon, no double slash, nothing outside of RFC 3986. */
const RAW_PATH = /^(?:[A-Za-z0-9\-._~!$&'()*+,=:@]|%[0-9A-Fa-f]{2}|\/(?!\/))+$/;
/**
 * Pattern of a decoded name: no path, nothing that would be decoded a second time, and no key of ours nor a beginning of
 * one, which a client may have put in the wrong place and which must not go upstream.
 */
const NAME = /^(?!\.{1,2}$)(?!.*inf_[0-9A-Za-z]{8})[^\p{Cc}/\\%;?#]+$/u;
const MAX_NAME = 256;

/**
 * Finds the operation that a request asks for (spec §4), by its method and its undecoded path. Pure. It compares with a
 * list: comparing a few texts costs less than hashing the path for a map.
 *
 * @param rawPath text between `/g/<public id>/` and the query, as it came off the wire
 * @returns undefined for a request that is no operation: it is answered 404 and never forwarded
 */
export function classify(method: string, rawPath: string): GatewayCall | undefined {
  for (const fixed of FIXED) if (fixed.rawPath === rawPath && fixed.method === method) return fixed.call;
  for (const named of NAMED) {
    const end = rawPath.length - named.end.length;
    // Its first character tells most ends apart.
    if (end <= named.begin.length || (named.end !== "" && rawPath[end] !== named.end[0])) continue;
    if (named.method !== method || !rawPath.endsWith(named.end) || !rawPath.startsWith(named.begin)) continue;
    const encoded = rawPath.slice(named.begin.length, end);
    if (!named.isModel) {
      const names = RAW_PATH.test(rawPath) ? keptNames(encoded, named.between) : undefined;
      if (names === undefined) continue;
      return callOf(named.served, withNames(named.path, names, named.between), undefined, names);
    }
    // A model's id that is read may hold anything, slashes too: the gateway answers, and no upstream is asked.
    const name = named.isRead ? decoded(encoded) : RAW_PATH.test(rawPath) ? decodeName(encoded) : undefined;
    if (name !== undefined) return callOf(named.served, named.path, name);
  }
  return undefined;
}

/**
 * Decodes the one or two names of what an upstream keeps. Behind a colon stands what an upstream is to do with an object:
 * that is a row of its own, or no operation.
 *
 * @param between text between two names; undefined if there is one
 */
function keptNames(encoded: string, between: string | undefined): readonly string[] | undefined {
  const parts = between === undefined ? [encoded] : encoded.split(between);
  const names = parts.flatMap((part) => decodeName(part) ?? []);
  const isWhole = names.length === parts.length && parts.length === (between === undefined ? 1 : 2);
  return isWhole && !names.some((name) => name.includes(":")) ? names : undefined;
}

/** Returns a path with names in it, which stays the same whichever upstream is asked. */
function withNames(
  { version, before, after }: UpstreamPath,
  names: readonly string[],
  between: string | undefined,
): UpstreamPath {
  return { version, before: `${before}${names.map(encodeURIComponent).join(between)}${after}`, after: "" };
}

function decodeName(encoded: string): string | undefined {
  const name = decoded(encoded);
  return name !== undefined && name.length <= MAX_NAME && NAME.test(name) && !containsWholeKey(name) ? name : undefined;
}

function decoded(encoded: string): string | undefined {
  try {
    return decodeURIComponent(encoded);
  } catch {
    return undefined;
  }
}
