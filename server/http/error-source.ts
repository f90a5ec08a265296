import type { HeaderAddition, Headers } from "./answers/added-headers.ts";

/** Header of errors under `/g/`: `keyplane` or `upstream`, whichever refuses. */
export const ERROR_SOURCE_HEADER = "x-keyplane-error-source";

/** Header of an error that Keyplane makes, as name and value. */
export const OWN_ERROR: readonly string[] = [ERROR_SOURCE_HEADER, "keyplane"];
const NOTHING: readonly string[] = [];
/** Matches the targets of gateways, also in absolute form, which the router treats like their path. */
const OF_GATEWAYS = /^(?:https?:\/\/[^/]*)?\/g\//;

/**
 * Marks an error under `/g/` as Keyplane's own, unless its head already names its source: no upstream has seen a
 * request that is refused before its route is found.
 */
export const addErrorSource: HeaderAddition = ({ url = "" }, given, status) =>
  status >= 400 && OF_GATEWAYS.test(url) && !saysSource(given) ? OWN_ERROR : NOTHING;

function saysSource(given: Headers): boolean {
  return Array.isArray(given) ? given.includes(ERROR_SOURCE_HEADER) : ERROR_SOURCE_HEADER in given;
}
