import { decodeEscapes, decodeWholly } from "../../domain/percent-encoding.ts";
import { problem } from "../http/problems/problem.ts";
import { isModelName } from "./headers/header-names.ts";
import { isSteeringName } from "./headers/steering-names.ts";

/**
 * Parameters that make some upstreams take a request for another one, by its method, its headers, its body or its
 * credential, have another account pay for it, or keep the usage from being read in its answer.
 */
const OVERRIDES: ReadonlySet<string> = new Set([
  "$callback",
  "$ct",
  "$fields",
  "$httpheaders",
  "$httpmethod",
  "$key",
  "$req",
  "$userproject",
  "_method",
  "access_token",
  "bearer_token",
  "callback",
  "fields",
  "oauth_token",
  "userproject",
  "x-http-method",
  "x-http-method-override",
  "x-method-override",
]);
/** Parameters by which some upstreams read another object than the path names. */
const OBJECTS: ReadonlySet<string> = new Set(["file_id", "file_ids", "vector_store_id", "vector_store_ids"]);
/** Parameters by which Google's APIs choose the form of an answer; below, the forms in which its usage is read. */
const FORM: ReadonlySet<string> = new Set(["alt", "$alt"]);
const READ_FORMS: ReadonlySet<string> = new Set(["json", "sse"]);
/**
 * Returns a query without the parameters that must not go upstream: `key` in any encoding; any parameter that holds a
 * key of ours, however often it is encoded; and parameters that make another request of this one, say where it is to
 * go or what it reads, or keep its answer from being read. If some upstreams read several parameters in a text with semicolons, one bad
 * parameter takes the others with it. The rest stays byte by byte.
 */
export function forwardedQuery(query: string): string {
  return query === "" ? "" : query.split("&").filter(mayPass).join("&");
}

function mayPass(pair: string): boolean {
  const text = decodeParameter(pair);
  if (text === undefined || text.includes("inf_")) return false;
  if (!pair.includes(";")) return isForwarded(text);
  return pair.split(";").every((part) => isForwarded(decodeParameter(part) ?? "key"));
}

/** @param text a parameter, decoded */
function isForwarded(text: string): boolean {
  const name = nameOf(text);
  const lower = name.toLowerCase();
  if (FORM.has(lower)) return READ_FORMS.has(text.slice(name.length + 1));
  return name !== "key" && !OVERRIDES.has(lower) && !OBJECTS.has(lower) && !isSteeringName(lower);
}

/**
 * Refuses a query that names a model: an upstream that reads it would take it for the request's. Some readers end a
 * parameter at a semicolon, and some decode a query before they split it: a parameter for any of them is a parameter
 * here.
 *
 * @throws Problem `invalid_request`
 */
export function requireNoModel(query: string): void {
  if (query === "") return;
  const text = decodeParameter(query);
  if (text === undefined || text.split(/[&;]/).some((pair) => namesOf(pair).some(namesModel))) throw MODEL_IN_QUERY;
}

const MODEL_IN_QUERY = problem(
  "invalid_request",
  "The query names a model, by `model` or a name like `engine` or `deployment`: name it in the path or in the body alone.",
);

/** Returns the texts that may be a parameter's name: an encoded equals sign may be a part of the name, or end it. */
function namesOf(pair: string): string[] {
  const pieces = pair.split("=");
  return pieces.slice(0, Math.max(1, pieces.length - 1));
}

/** True if a parameter's name, or a part of a nested name, names a model to a reader of Latin-1 or of UTF-8. */
function namesModel(name: string): boolean {
  return [name, Buffer.from(name, "latin1").toString()].some((reading) =>
    reading.split(/[.[\]]/).some((part) => isModelName(part.toLowerCase())),
  );
}

function nameOf(pair: string): string {
  const equals = pair.indexOf("=");
  return equals === -1 ? pair : pair.slice(0, equals);
}

/** Decodes a parameter until nothing in it is encoded any more; undefined if it is encoded too often. */
function decodeParameter(text: string): string | undefined {
  if (!/[%+]/.test(text)) return text;
  return decodeWholly(text, (layer) => decodeEscapes(layer.replaceAll("+", " ")));
}
