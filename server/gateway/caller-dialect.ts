import type { Dialect } from "../../domain/key-record.ts";
import { readCredential } from "../auth/credential.ts";
import { headerOf } from "./headers.ts";

/**
 * The format in which a caller expects an answer of the gateway's own: by the path, whatever becomes of the request, so
 * that a refusal reads the same for every reason. `v1/models` is three formats' path: there the key's carrier and the
 * anthropic-version header say whose client it is (spec §4).
 *
 * @param rawPath the undecoded path behind `/g/<public id>/`; undefined where there is none
 */
export function callerDialect(
  rawPath: string | undefined,
  rawHeaders: readonly string[],
  url: string,
  vendorHeader: string,
): Dialect {
  if (rawPath === undefined) return "openai";
  if (/^v1beta(\/|$)/.test(rawPath)) return "gemini";
  if (/^v1\/messages(\/|$)/.test(rawPath)) return "anthropic";
  if (!/^v1\/models(\/|$)/.test(rawPath)) return "openai";
  if (rawPath.lastIndexOf(":") > rawPath.lastIndexOf("/")) return "gemini";
  const { carrier } = readCredential(rawHeaders, url, vendorHeader);
  if (carrier === "vendor" || carrier === "query") return "gemini";
  return headerOf(rawHeaders, "anthropic-version") === undefined ? "openai" : "anthropic";
}
