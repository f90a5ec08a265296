import type { Dialect } from "../../../domain/access/key-record.ts";
import { extractCredential } from "../../auth/credential.ts";
import { headerOf } from "../headers/headers.ts";

/**
 * The paths of one format alone, whichever client asks. The others, such as `v1/models` and `v1/files`, are shared by
 * several formats.
 */
const PATHS: readonly (readonly [RegExp, Dialect])[] = [
  [/^(?:upload\/)?v1beta(?:\/|$)/, "gemini"],
  [/^v1\/messages(?:\/|$)/, "anthropic"],
  [/^v1\/(?:chat|completions|responses|embeddings)(?:\/|$)/, "openai"],
  [/^v1\/(?:cachedContents|corpora|fileSearchStores|tunedModels)(?:\/|$)/, "gemini"],
];
const MODELS = "v1/models/";

/**
 * The format in which a caller expects an answer of the gateway's own: by the path, whatever becomes of the request, so
 * that a refusal reads the same for every reason. Where several formats share a path, the key's carrier and the
 * anthropic-version header say whose client it is (spec §4).
 *
 * @param rawPath the undecoded path behind `/g/<public id>/`; undefined where there is none
 */
export function callerDialect(
  method: string,
  rawPath: string | undefined,
  rawHeaders: readonly string[],
  url: string,
  vendorHeader: string,
): Dialect {
  if (rawPath === undefined) return "openai";
  for (const [path, dialect] of PATHS) if (path.test(rawPath)) return dialect;
  if (method === "POST" && isModelAction(rawPath)) return "gemini";
  const { carrier } = extractCredential(rawHeaders, url, vendorHeader);
  if (carrier === "vendor" || carrier === "query") return "gemini";
  return headerOf(rawHeaders, "anthropic-version") === undefined ? "openai" : "anthropic";
}

/** Whether a colon is in the last segment: of a GET, it may be the id's that is read. */
function isModelAction(rawPath: string): boolean {
  return rawPath.startsWith(MODELS) && rawPath.lastIndexOf(":") > rawPath.lastIndexOf("/");
}
