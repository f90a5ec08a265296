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

/** The path of an upstream's base URL, without a slash at its end. */
export function basePathOf(base: URL): string {
  return base.pathname.replace(/\/+$/, "");
}

/**
 * The target to ask of an upstream: its base URL's path, the operation's path, and what may pass of the client's query.
 * A base URL that ends in the path's version, as SDKs write theirs, is taken as it is meant: the version is not
 * repeated.
 *
 * @param basePath as {@link basePathOf} gives it
 */
export function upstreamTarget(basePath: string, path: UpstreamPath, model: string | undefined, query: string): string {
  const version = basePath.endsWith(`/${path.version}`) ? "" : `/${path.version}`;
  const forwarded = forwardedQuery(query);
  const encoded = model === undefined ? "" : encodeURIComponent(model);
  return `${basePath}${version}${path.before}${encoded}${path.after}${forwarded === "" ? "" : `?${forwarded}`}`;
}
