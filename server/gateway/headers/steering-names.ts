/**
 * Names of headers and parameters by which an upstream that is itself a gateway would send a call, and the credential
 * that we add to it, to another destination than the declared one (threats b125).
 */

/** Last parts of such names: a destination, or the party that is asked there. */
const DESTINATIONS: ReadonlySet<string> = new Set([
  "backend",
  "base",
  "destination",
  "endpoint",
  "hostname",
  "provider",
  "target",
  "upstream",
]);
/** Ending of such names in one word, as in `baseurl` and `apibase`. */
const DESTINATION_ENDING = /(?:url|uri|host|apibase)$/;
/** Other such names: they list where a call goes next, in one text. */
const LISTED: ReadonlySet<string> = new Set(["helicone-fallbacks"]);
/**
 * Prefix of Portkey's headers, which say which provider is asked, by which account and on which host; Portkey adds
 * more. Those in `PORTKEY_FACTS` only describe a call.
 */
const PORTKEY = "x-portkey-";
const PORTKEY_FACTS = /^x-portkey-(?:cache|debug|metadata|parent-span|span|trace)(?:-|$)/;

/**
 * True if a name says where a call is to go, whatever separates its parts.
 *
 * @param lower the name in lower case
 */
export function isSteeringName(lower: string): boolean {
  const hyphenated = lower
    .split(/[^a-z0-9]+/)
    .filter((part) => part !== "")
    .join("-");
  if (hyphenated.startsWith(PORTKEY)) return !PORTKEY_FACTS.test(hyphenated) || endsInDestination(hyphenated);
  return endsInDestination(hyphenated) || LISTED.has(hyphenated);
}

function endsInDestination(hyphenated: string): boolean {
  const last = hyphenated.slice(hyphenated.lastIndexOf("-") + 1);
  return DESTINATIONS.has(last) || DESTINATION_ENDING.test(last);
}
