import type { Dialect } from "../../../domain/access/key-record.ts";
import { extractCredential } from "../../auth/credential.ts";
import { SERVED_PATHS } from "../classify.ts";
import { headerOf } from "../headers/headers.ts";

/** Pattern of paths that are Gemini's alone: those of v1beta, and those of collections that no gateway serves. */
const OF_GEMINI =
  /^(?:(?:up|down)load\/)?v1beta(?:\/|$)|^v1\/(?:cachedContents|corpora|fileSearchStores|tunedModels)(?:\/|$)/;
/**
 * Formats by the collection behind `v1/` that they alone serve, whichever client asks. Other collections, such as
 * `v1/models` and `v1/files`, are shared by several formats.
 */
const COLLECTIONS: ReadonlyMap<string, Dialect> = new Map(
  [...Map.groupBy(SERVED_PATHS, ({ path }) => collectionOf(path))].flatMap(([collection, served]) => {
    const [dialect, ...others] = new Set(served.map((one) => one.dialect));
    if (collection === undefined || dialect === undefined || others.length > 0) return [];
    return [[collection, dialect] as const];
  }),
);

function collectionOf(path: string): string | undefined {
  const [version, collection] = path.split("/", 2);
  return version === "v1" ? collection : undefined;
}

const MODELS = "v1/models/";

/**
 * Finds the format in which a caller expects an answer of the gateway's own. It goes by the path, whatever becomes of
 * the request, so that a refusal reads the same for every reason. If several formats share the path, the key's carrier
 * and the anthropic-version header say whose client it is (spec §4).
 *
 * @param rawPath the undecoded path behind `/g/<public id>/`; undefined if there is none
 */
export function callerDialect(
  method: string,
  rawPath: string | undefined,
  rawHeaders: readonly string[],
  url: string,
  vendorHeader: string,
): Dialect {
  if (rawPath === undefined) return "openai";
  if (OF_GEMINI.test(rawPath)) return "gemini";
  const dialect = COLLECTIONS.get(collectionOf(rawPath) ?? "");
  if (dialect !== undefined) return dialect;
  if (method === "POST" && isModelAction(rawPath)) return "gemini";
  const { carrier } = extractCredential(rawHeaders, url, vendorHeader);
  if (carrier === "vendor" || carrier === "query") return "gemini";
  return headerOf(rawHeaders, "anthropic-version") === undefined ? "openai" : "anthropic";
}

/**
 * True if a colon is in the last segment, as in an action on a model. In a GET it may belong to the id of the model.
 */
function isModelAction(rawPath: string): boolean {
  return rawPath.startsWith(MODELS) && rawPath.lastIndexOf(":") > rawPath.lastIndexOf("/");
}
