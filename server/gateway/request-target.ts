import type { Dialect } from "../../domain/access/key-record.ts";
import type { UpstreamPath } from "./classify.ts";
import { forwardedQuery } from "./query.ts";

/** The parts of a request's target under `/g/`, as they came off the wire. */
export type RequestTarget = {
  /** Between `/g/<public id>/` and the query; undefined where the path was spelt in another way than the route's. */
  readonly rawPath: string | undefined;
  /** Behind the question mark, without it. */
  readonly query: string;
};

const PREFIX = "/g/";
const ORIGIN = /^https?:\/\/[^/?#]*/i;

/**
 * Splits a request's target. The public id is the one that the router matched: where the raw text does not hold it
 * letter by letter (`/%67/…`, an encoded id), there is no raw path, and so no operation, whatever the router made of
 * it.
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

/** What stands before the operation's path at an upstream: its base URL's path, and the version where one is put there. */
export type PathPrefixes = Readonly<Record<UpstreamPath["version"], string>>;

/** A version among the segments of a path, such as in `/v1`, `/api/paas/v4` and `/v1beta/openai`. */
const HAS_VERSION = /\/v\d+(?:\.\d+)*(?:(?:alpha|beta)\d*)?(?:\/|$)/;

/**
 * How an upstream's base URL and a path's version are joined, as the SDK of its dialect has it (spec §4). OpenAI's SDK
 * is given the version with its base URL: one that has a version anywhere gets no other one. Those of Anthropic and
 * Google put theirs behind whatever they are given, but it is not repeated where the base URL ends in it.
 */
export function pathPrefixes({ pathname }: URL, dialect: Dialect): PathPrefixes {
  const base = pathname.replace(/\/+$/, "");
  const isVersioned = dialect === "openai" && HAS_VERSION.test(base);
  const prefix = (version: string): string =>
    isVersioned || base.endsWith(`/${version}`) ? base : `${base}/${version}`;
  return { v1: prefix("v1"), v1beta: prefix("v1beta") };
}

/** The target to ask of an upstream: its prefix, the operation's path, and what may pass of the client's query. */
export function upstreamTarget(
  prefixes: PathPrefixes,
  { version, before, after }: UpstreamPath,
  model: string | undefined,
  query: string,
): string {
  const forwarded = forwardedQuery(query);
  const encoded = model === undefined ? "" : encodeURIComponent(model);
  return `${prefixes[version]}${before}${encoded}${after}${forwarded === "" ? "" : `?${forwarded}`}`;
}
