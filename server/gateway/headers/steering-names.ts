/**
 * Names of headers and parameters by which an upstream that is itself a gateway would send a call, and the credential
 * that we add to it, to another place than the declaration's (threats b125).
 */

/** What the last part of such a name is: a place, or who is asked there. */
const PLACES: ReadonlySet<string> = new Set([
  "backend",
  "base",
  "destination",
  "endpoint",
  "hostname",
  "provider",
  "target",
  "upstream",
]);
/** What it ends in, where it is written together, as in `baseurl` and `apibase`. */
const PLACE_ENDING = /(?:url|uri|host|apibase)$/;
/** What it says more: where a call goes next, in one text. */
const LISTED: ReadonlySet<string> = new Set(["helicone-fallbacks"]);
/**
 * Portkey's say which provider is asked, by which account and on which host, and more come; these say what a call is.
 */
const PORTKEY = "x-portkey-";
const PORTKEY_FACTS = /^x-portkey-(?:cache|debug|metadata|parent-span|span|trace)(?:-|$)/;

/**
 * Whether a name says where a call is to go, whatever stands between its parts.
 *
 * @param lower in lower case
 */
export function isSteeringName(lower: string): boolean {
  const hyphenated = lower
    .split(/[^a-z0-9]+/)
    .filter((part) => part !== "")
    .join("-");
  if (hyphenated.startsWith(PORTKEY)) return !PORTKEY_FACTS.test(hyphenated) || endsInPlace(hyphenated);
  return endsInPlace(hyphenated) || LISTED.has(hyphenated);
}

function endsInPlace(hyphenated: string): boolean {
  const last = hyphenated.slice(hyphenated.lastIndexOf("-") + 1);
  return PLACES.has(last) || PLACE_ENDING.test(last);
}
