import { problem } from "../http/errors.ts";
import { canonical } from "./model/model-places.ts";

/** Encodings within encodings that are inspected; no client means more than one. */
const MAX_LAYERS = 8;
/** Parameters by which some upstreams take a request for another one: its method, its headers or its body. */
const OVERRIDES: ReadonlySet<string> = new Set([
  "$ct",
  "$httpheaders",
  "$httpmethod",
  "$req",
  "_method",
  "x-http-method",
  "x-http-method-override",
  "x-method-override",
]);
/** What names a model where it is a parameter, or the last part of one. */
const MODEL_NAMES: ReadonlySet<string> = new Set(["model", "models", "fallbacks"]);

/**
 * A query without the parameters that carry a key: `key` in any encoding, and any other one that holds a key of ours,
 * however often it is encoded. Nor does one pass that makes another request of this one. The rest stays byte by byte.
 */
export function forwardedQuery(query: string): string {
  return query === "" ? "" : query.split("&").filter(mayPass).join("&");
}

function mayPass(pair: string): boolean {
  const text = decodeWholly(pair);
  if (text === undefined || text.includes("inf_")) return false;
  const name = nameOf(text);
  return name !== "key" && !OVERRIDES.has(name.toLowerCase());
}

/**
 * Refuses a query that names a model: an upstream that reads it would take it for the request's.
 *
 * @throws Problem `invalid_request`
 */
export function requireNoModel(query: string): void {
  if (query === "") return;
  for (const pair of query.split("&")) {
    const text = decodeWholly(pair);
    if (
      text === undefined ||
      nameOf(text)
        .split(/[.[\]]/)
        .some((part) => MODEL_NAMES.has(canonical(part)))
    ) {
      throw problem("invalid_request", "The query names a model: name it in the path or in the body alone.");
    }
  }
}

function nameOf(pair: string): string {
  const equals = pair.indexOf("=");
  return equals === -1 ? pair : pair.slice(0, equals);
}

/** Decodes a text until nothing in it is encoded any more; undefined where there is no end to it. */
function decodeWholly(text: string): string | undefined {
  if (!/[%+]/.test(text)) return text;
  let decoded = text;
  for (let layer = 0; layer < MAX_LAYERS; layer += 1) {
    const next = decode(decoded);
    if (next === decoded) return decoded;
    decoded = next;
  }
  return undefined;
}

/** Decodes each escape by itself, so that a broken one elsewhere does not hide a name. */
function decode(text: string): string {
  return text
    .replaceAll("+", " ")
    .replace(/%([0-9A-Fa-f]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}
