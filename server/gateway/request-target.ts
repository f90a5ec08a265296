import type { Dialect } from "../../domain/access/key-record.ts";
import type { UpstreamPath } from "./classify.ts";

/** Parts of a request's target under `/g/`, as they came off the wire. */
export type RequestTarget = {
  /** Path between `/g/<public id>/` and the query; undefined if it was spelt in another way than the route's. */
  readonly rawPath: string | undefined;
  /** Query, without its question mark. */
  readonly query: string;
};

const PREFIX = "/g/";
const ORIGIN = /^https?:\/\/[^/?#]*/i;

/**
 * Splits a request's target. If the raw text does not hold the public id letter by letter (`/%67/…`, an encoded id),
 * there is no raw path, and so no operation, whatever the router made of it.
 *
 * @param publicId as the router matched it
 */
export function splitTarget(url: string, publicId: string): RequestTarget {
  const target = url.startsWith("/") ? url : url.replace(ORIGIN, "");
  const mark = target.indexOf("?");
  const path = mark === -1 ? target : target.slice(0, mark);
  const query = mark === -1 ? "" : target.slice(mark + 1);
  const end = PREFIX.length + publicId.length;
  const isSpeltOut = path.startsWith(PREFIX) && path.startsWith(publicId, PREFIX.length) && path[end] === "/";
  return { rawPath: isSpeltOut ? path.slice(end + 1) : undefined, query };
}

/**
 * Prefix of the operation's path at an upstream, by the path's version: the base URL's path, and the version if one is
 * added.
 */
export type PathPrefixes = Readonly<Record<UpstreamPath["version"], string>>;

/** Pattern of a segment of a path that is a version, such as `/v1` and `/v1beta`. */
const VERSION = String.raw`\/v\d+(?:\.\d+)*(?:(?:alpha|beta)\d*)?`;
/** Pattern of a path with a version among its segments, such as `/v1`, `/api/paas/v4` and `/v1beta/openai`. */
const HAS_VERSION = new RegExp(`${VERSION}(?:\\/|$)`);
const ENDS_IN_VERSION = new RegExp(`${VERSION}$`);
const IS_VERSION = new RegExp(`^${VERSION}$`);
/** Patterns of the paths of base URLs behind which no version is put, by dialect. */
const VERSIONED: Readonly<Partial<Record<Dialect, RegExp>>> = { openai: HAS_VERSION, gemini: IS_VERSION };

/**
 * Joins an upstream's base URL and a path's version, as the SDK of its dialect does (spec §4). OpenAI's SDK takes the
 * version as a part of its base URL: a base URL that has a version anywhere gets no other. The SDKs of Anthropic and
 * Google append theirs to any base URL. It is not repeated if the base URL ends in it. A version that is all of a Gemini base
 * URL's path is Google's own, and takes its place: two in a row name nothing there. Behind other segments it may be a
 * proxy's.
 */
export function pathPrefixes({ pathname }: URL, dialect: Dialect): PathPrefixes {
  const base = pathname.replace(/\/+$/, "");
  const isVersioned = VERSIONED[dialect]?.test(base) === true;
  const prefix = (version: string): string =>
    isVersioned || base.endsWith(`/${version}`) ? base : `${base}/${version}`;
  const unversioned = base.replace(ENDS_IN_VERSION, "");
  return {
    ...{ v1: prefix("v1"), v1beta: prefix("v1beta") },
    ...{ "upload/v1beta": `${unversioned}/upload/v1beta`, "download/v1beta": `${unversioned}/download/v1beta` },
  };
}

/**
 * Returns the target to request from an upstream: its prefix, the operation's path, and a query.
 *
 * @param query query that may pass, such as `forwardedQuery` returns it
 */
export function upstreamTarget(
  prefixes: PathPrefixes,
  { version, before, after }: UpstreamPath,
  model: string | undefined,
  query: string,
): string {
  const encoded = model === undefined ? "" : encodeURIComponent(model);
  return `${prefixes[version]}${before}${encoded}${after}${query === "" ? "" : `?${query}`}`;
}
