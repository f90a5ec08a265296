/** The request that a proxy asks about: its method and its target, each from the one place that the proxy puts it in. */
import { type Problem, problem } from "../http/problems/problem.ts";

/** Ways in which proxies show a request, and its body, to the verifier. */
const PROXIES = {
  nginx: { method: "x-original-method", target: "x-original-uri", body: "none" },
  caddy: { method: "x-forwarded-method", target: "x-forwarded-uri", body: "none" },
  traefik: { method: "x-forwarded-method", target: "x-forwarded-uri", body: "own" },
  /** The question has the request's own method, and its target behind the configured path. */
  envoy: { body: "own" },
} as const;

export type ProxyKind = keyof typeof PROXIES;

export function isProxy(name: string): name is ProxyKind {
  return Object.hasOwn(PROXIES, name);
}

/** True if a proxy itself writes a header, in which it shows the request. @param name in lower case */
export function isPlace(proxy: ProxyKind, name: string): boolean {
  const places = PROXIES[proxy];
  return "target" in places && (name === places.method || name === places.target);
}

/** True if a proxy can show the body of a request. */
export function showsBody(proxy: ProxyKind): boolean {
  return PROXIES[proxy].body === "own";
}

/** Request that a proxy asks about. */
export type AskedRequest = {
  readonly method: string;
  /** Path as it came off the wire: every server reads it alike. */
  readonly path: string;
  /** Query, without its question mark. */
  readonly query: string;
};

/** Question as far as the request's method and its headers go. */
type ShownHead = { readonly method?: string | undefined; readonly rawHeaders: readonly string[] };

/**
 * Reads the request that a proxy asks about. Pure.
 *
 * @param rest text behind the configured path
 * @returns the problem to answer if method or target is missing or doubled, or if two servers could read the path in
 *   two ways
 */
export function readAskedRequest(proxy: ProxyKind, question: ShownHead, rest: string): AskedRequest | Problem {
  const places = PROXIES[proxy];
  const [method, target] =
    "target" in places
      ? [singleHeader(question.rawHeaders, places.method), singleHeader(question.rawHeaders, places.target)]
      : [question.method, rest];
  if (method === undefined || target === undefined || !METHOD.test(method) || target === "") return UNSHOWN[proxy];
  const mark = target.indexOf("?");
  const path = mark === -1 ? target : target.slice(0, mark);
  if (!PLAIN_PATH.test(path) || DOT_SEGMENT.test(path) || !isUtf8(path)) return NOT_PLAIN;
  return { method, path, query: mark === -1 ? "" : target.slice(mark + 1) };
}

const METHOD = /^[A-Z]{1,20}$/;
/** Pattern of a path without empty segments, backslashes, parameters, or an encoded dot, slash, percent or control. */
const PLAIN_PATH = /^\/(?:(?<!\/)\/|[A-Za-z0-9\-._~!$&'()*+,=:@]|%(?!2[eEfF5]|3[bB]|5[cC]|7[fF]|[01])[0-9A-Fa-f]{2})*$/;
const DOT_SEGMENT = /\/\.{1,2}(?:\/|$)/;

/** True if what a path encodes is UTF-8: of other bytes some servers make characters, such as a slash of `%c0%af`. */
function isUtf8(path: string): boolean {
  if (!path.includes("%")) return true;
  try {
    decodeURIComponent(path);
    return true;
  } catch {
    return false;
  }
}

const NOT_PLAIN = problem(
  "invalid_request",
  "The path may be read in two ways: send it without empty segments, dot segments, backslashes, semicolons, encoded dots, slashes and percent signs, and encoded bytes that are no UTF-8.",
);

function unshown(what: string): Problem {
  return problem(
    "forbidden",
    `The proxy does not show the verifier which request it asks about: its operator has it send ${what}.`,
  );
}

const UNSHOWN: Readonly<Record<ProxyKind, Problem>> = {
  nginx: unshown("X-Original-Method and X-Original-URI, each once"),
  caddy: unshown("X-Forwarded-Method and X-Forwarded-Uri, each once"),
  traefik: unshown("X-Forwarded-Method and X-Forwarded-Uri, each once"),
  envoy: unshown("the request's method, and its path behind path_prefix"),
};

/**
 * Returns the value of a header; undefined if there is none, or more than one.
 *
 * @param name in lower case
 */
export function singleHeader(rawHeaders: readonly string[], name: string): string | undefined {
  let found: string | undefined;
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    const given = rawHeaders[i] ?? "";
    if (given.length !== name.length || given.toLowerCase() !== name) continue;
    if (found !== undefined) return undefined;
    found = rawHeaders[i + 1];
  }
  return found;
}
