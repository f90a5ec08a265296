import type { HeaderAddition, Headers } from "./answers/added-headers.ts";

/** On errors under `/g/`: whether `keyplane` or the `upstream` refuses. */
export const ERROR_SOURCE_HEADER = "x-keyplane-error-source";

/** In a head of an error that Keyplane makes: name and value in turn. */
export const OWN_ERROR: readonly string[] = [ERROR_SOURCE_HEADER, "keyplane"];
const NOTHING: readonly string[] = [];
/** Also of a target in absolute form, which the router takes as it takes its path. */
const OF_GATEWAYS = /^(?:https?:\/\/[^/]*)?\/g\//;

/**
 * Says of an error under `/g/` that Keyplane refuses, where the head does not say who does: no upstream has seen what is
 * refused before its route is found.
 */
export const addErrorSource: HeaderAddition = ({ url = "" }, given, status) =>
  status >= 400 && OF_GATEWAYS.test(url) && !saysSource(given) ? OWN_ERROR : NOTHING;

function saysSource(given: Headers): boolean {
  return Array.isArray(given) ? given.includes(ERROR_SOURCE_HEADER) : ERROR_SOURCE_HEADER in given;
}
