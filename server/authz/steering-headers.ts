import { spellingOf } from "../gateway/headers/header-names.ts";
import { isSteeringName } from "../gateway/headers/steering-names.ts";

/** Headers that name another method or target for a request. */
const OVERRIDES: ReadonlySet<string> = new Set([
  "x-http-method",
  "x-http-method-override",
  "x-method-override",
  "x-original-url",
  "x-rewrite-url",
]);
/** Headers in which proxies themselves name the host and the target. */
const OF_PROXIES = /^(?:host|x-forwarded-.*|x-original-uri)$/;

/** Beginning of the headers that say whose the key is. */
const OURS = "x-keyplane-";

/** Part of a request that a header may decide for an upstream, whatever the verifier has decided. */
type Steers = "the call" | "the model" | "the caller" | "nothing";

/** Names that are remembered: a client that invents them must not fill the memory. */
const MAX_NAMES = 1_000;
const known = new Map<string, Steers>();

/**
 * True if a header could speak for the verifier: some servers read `X_Keyplane_Team` as `X-Keyplane-Team`, and proxies
 * that take off the second pass on the first.
 */
export function claimsCaller(rawHeaders: readonly string[]): boolean {
  for (let i = 0; i < rawHeaders.length; i += 2) if (steeredBy(rawHeaders[i] ?? "") === "the caller") return true;
  return false;
}

/**
 * True if a header could make an upstream take the request for another one, or ask another model. The gateway drops
 * such headers; a proxy passes them on.
 *
 * @param modelMatters true if the request's model is decided
 */
export function isSteered(rawHeaders: readonly string[], modelMatters: boolean): boolean {
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const steers = steeredBy(rawHeaders[i] ?? "");
    if (steers === "the call" || (modelMatters && steers === "the model")) return true;
  }
  return false;
}

function steeredBy(name: string): Steers {
  const found = known.get(name);
  if (found !== undefined) return found;
  const { lower, namesModel } = spellingOf(name);
  const hyphenated = lower.replace(/[^a-z0-9]/g, "-");
  const isCall = OVERRIDES.has(hyphenated) || (isSteeringName(lower) && !OF_PROXIES.test(lower));
  const isClaim = lower !== hyphenated && hyphenated.startsWith(OURS);
  const steers = isClaim ? "the caller" : isCall ? "the call" : namesModel ? "the model" : "nothing";
  if (known.size < MAX_NAMES) known.set(name, steers);
  return steers;
}
