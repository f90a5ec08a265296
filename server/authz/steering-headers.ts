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

/** Part of a request that a header may decide for an upstream, whatever the path and the body say. */
type Steers = "the call" | "the model" | "nothing";

/** Names that are remembered: a client that invents them must not fill the memory. */
const MAX_NAMES = 1_000;
const known = new Map<string, Steers>();

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
  const steers = isCall ? "the call" : namesModel ? "the model" : "nothing";
  if (known.size < MAX_NAMES) known.set(name, steers);
  return steers;
}
