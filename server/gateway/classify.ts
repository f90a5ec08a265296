import {
  GATEWAY_OPERATIONS,
  isForwarded,
  SERVED_OPERATIONS,
  type ServedAt,
  type ServedOperation,
} from "../../domain/access/gateway-operations.ts";
import type { Dialect } from "../../domain/access/key-record.ts";

/** What a request under `/g/<public id>/` asks for. */
export type GatewayCall = {
  readonly operation: ServedOperation;
  readonly method: ServedAt["method"];
  /** The wire format of its path; undefined where three formats share a path, and the caller's headers say which. */
  readonly dialect: Dialect | undefined;
  /** The path to ask of an upstream, with the model, decoded, left out. */
  readonly path: UpstreamPath;
  /** The model that the path names, decoded once; undefined where the body names it. */
  readonly model: string | undefined;
  /** The path as {@link SERVED_PATHS} has it. */
  readonly servedPath: ServedAt["path"];
};

/** A path as an upstream is asked for it: built from the operation, never from what the client sent. */
export type UpstreamPath = { readonly version: "v1" | "v1beta"; readonly before: string; readonly after: string };

/** A path that is served behind `/g/<public id>/`, with `{model}` where a model's name stands. */
export type ServedPath = Pick<GatewayCall, "operation" | "method" | "dialect"> & Pick<ServedAt, "path">;

const PATHS = SERVED_OPERATIONS.flatMap((operation) =>
  GATEWAY_OPERATIONS[operation].served.map(({ method, path, dialect }): ServedPath => {
    return { method, path, dialect, operation };
  }),
);
const PLAIN = PATHS.filter(({ path }) => !path.includes("{"));
const NAMING = PATHS.filter(({ path }) => path.includes("{"));

/** Every path that {@link classify} takes for an operation: those that name something last. */
export const SERVED_PATHS: readonly ServedPath[] = [...PLAIN, ...NAMING];

/** The paths that are one operation as they stand, with a call of each, made once. */
const FIXED = PLAIN.map((served) => {
  const { version, rest } = partsOf(served.path);
  const call = callOf(served, { version, before: rest, after: "" }, undefined);
  return { method: served.method, rawPath: served.path, call };
});

/** The paths that name a model or what an upstream keeps, taken apart at the name. */
const NAMED = NAMING.map((served) => {
  const { version, rest } = partsOf(served.path);
  const [, before = "", name, after = ""] = /^(.*)\{(\w+)\}(.*)$/.exec(rest) ?? [];
  const isModel = name === "model";
  const isRead = !isForwarded(GATEWAY_OPERATIONS[served.operation]);
  const path: UpstreamPath = { version, before, after };
  return { method: served.method, begin: `${version}${before}`, end: after, served, path, isModel, isRead };
});

function partsOf(path: string): { readonly version: "v1" | "v1beta"; readonly rest: string } {
  const version = path.startsWith("v1beta/") ? "v1beta" : "v1";
  return { version, rest: path.slice(version.length) };
}

function callOf(
  { operation, method, dialect, path: servedPath }: ServedPath,
  path: UpstreamPath,
  model: string | undefined,
): GatewayCall {
  return { operation, method, dialect, path, model, servedPath };
}

/** What a path may hold as it comes off the wire: no semicolon, no second slash, nothing outside of RFC 3986. */
const RAW_PATH = /^(?:[A-Za-z0-9\-._~!$&'()*+,=:@]|%[0-9A-Fa-f]{2}|\/(?!\/))+$/;
/**
 * What a name may be once decoded: neither a path, nor anything that is decoded a second time, nor a key of
 * ours that a client has put in the wrong place, which must not go upstream.
 */
const NAME = /^(?!\.{1,2}$)(?!.*inf_[0-9A-Za-z]{8})[^\p{Cc}/\\%;?#]+$/u;
const MAX_NAME = 256;

/**
 * Says which operation a request is (spec §4), by method and the undecoded path. Pure. It compares with a list: to compare
 * a few texts costs less than to hash the path for a map.
 *
 * @param rawPath what stands between `/g/<public id>/` and the query, as it came off the wire
 * @returns undefined for anything that is no operation: it is answered 404 and never forwarded
 */
export function classify(method: string, rawPath: string): GatewayCall | undefined {
  for (const fixed of FIXED) if (fixed.rawPath === rawPath && fixed.method === method) return fixed.call;
  for (const named of NAMED) {
    const end = rawPath.length - named.end.length;
    // Its first character tells most ends apart.
    if (end <= named.begin.length || (named.end !== "" && rawPath[end] !== named.end[0])) continue;
    if (named.method !== method || !rawPath.endsWith(named.end) || !rawPath.startsWith(named.begin)) continue;
    const encoded = rawPath.slice(named.begin.length, end);
    // A model's id that is read may hold anything, slashes too: the gateway answers, and no upstream is asked.
    const name = named.isRead ? decoded(encoded) : RAW_PATH.test(rawPath) ? decodeName(encoded) : undefined;
    if (name === undefined) continue;
    if (named.isModel) return callOf(named.served, named.path, name);
    return callOf(named.served, withName(named.path, name), undefined);
  }
  return undefined;
}

/** A path with a name in it that stays as it is, whichever upstream is asked. */
function withName({ version, before, after }: UpstreamPath, name: string): UpstreamPath {
  return { version, before: `${before}${encodeURIComponent(name)}${after}`, after: "" };
}

function decodeName(encoded: string): string | undefined {
  const name = decoded(encoded);
  return name !== undefined && name.length <= MAX_NAME && NAME.test(name) ? name : undefined;
}

function decoded(encoded: string): string | undefined {
  try {
    return decodeURIComponent(encoded);
  } catch {
    return undefined;
  }
}
