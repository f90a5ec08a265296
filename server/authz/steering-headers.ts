import { containsWholeKey } from "../../domain/redact.ts";
import { spellingOf } from "../gateway/headers/header-names.ts";
import { isSteeringName } from "../gateway/headers/steering-names.ts";
import { isPlace, type ProxyKind } from "./asked-request.ts";

/** Headers that name another method or target for a request, which frameworks take in its place. */
const OVERRIDES: ReadonlySet<string> = new Set([
  "x-http-method",
  "x-http-method-override",
  "x-method-override",
  "x-original-url",
  "x-rewrite-url",
]);
/** Headers in which some proxy shows the verifier a request. */
const PLACES: ReadonlySet<string> = new Set([
  "x-forwarded-method",
  "x-forwarded-uri",
  "x-original-method",
  "x-original-uri",
]);
/** Headers that lead a request, or all that comes after it on an upgraded connection, to another destination. */
const ELSEWHERE: ReadonlySet<string> = new Set(["upgrade", "x-envoy-original-path"]);
/** Headers in which proxies themselves name the host. */
const OF_PROXIES = /^(?:host|x-forwarded-.*)$/;
/** Headers that say how a body is read. A server behind the proxy may read them in a spelling that we do not. */
const HOW_BODIES_ARE_READ: ReadonlySet<string> = new Set([
  "content-encoding",
  "content-length",
  "content-type",
  "transfer-encoding",
]);

/** Beginning of the headers that say whose the key is. */
const OURS = "x-keyplane-";

/** Part of a request that a header may decide for a server behind the proxy, whatever the verifier has decided. */
type Steers = "the call" | "the destination" | "the target" | "the model" | "the caller" | "nothing";
/** Fault for which a request is refused with any key. */
type HeaderFault = { readonly is: "steered" | "claim" | "stray key"; readonly name: string };

/** Names that are remembered, and their length: a client that invents them must not fill the memory. */
const MAX_NAMES = 1_000;
const MAX_LENGTH = 100;
const known = new Map<string, Steers>();

/**
 * Returns what is wrong with a request's headers: a proxy would pass them on, which the gateway drops. They could speak
 * for the verifier, since some servers read `X_Keyplane_Team` as `X-Keyplane-Team`; make a server take the request for
 * another one, or read its body in another way; or hold a key beside the places where keys are, which alone the proxy
 * takes off.
 *
 * @param isModelCall true if models are asked: a model's server could take it for a request to another one by headers that
 *   load balancers and browsers send to others
 * @param vendorHeader the configured carrier of a key, in lower case
 */
export function headerFault(
  rawHeaders: readonly string[],
  proxy: ProxyKind,
  isModelCall: boolean,
  vendorHeader: string,
): HeaderFault | undefined {
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] ?? "";
    const steers = steeredBy(name);
    if (steers === "the caller") return { is: "claim", name };
    if (steers === "the call" || (isModelCall && steers === "the destination")) return { is: "steered", name };
    if (steers === "the target") {
      if (!isPlace(proxy, name.toLowerCase())) return { is: "steered", name };
    } else if (containsWholeKey(rawHeaders[i + 1] ?? "") && !isCarrier(name.toLowerCase(), vendorHeader)) {
      return { is: "stray key", name };
    }
  }
  return undefined;
}

function isCarrier(lower: string, vendorHeader: string): boolean {
  return lower === "authorization" || lower === "x-api-key" || lower === vendorHeader;
}

/** True if an upstream could read another model in a header than the verifier has decided. */
export function namesModel(rawHeaders: readonly string[]): boolean {
  return rawHeaders.some((name, i) => i % 2 === 0 && steeredBy(name) === "the model");
}

function steeredBy(name: string): Steers {
  const found = known.get(name);
  if (found !== undefined) return found;
  const { lower, namesModel } = spellingOf(name);
  const steers = decidedBy(lower, namesModel);
  if (known.size < MAX_NAMES && name.length <= MAX_LENGTH) known.set(name, steers);
  return steers;
}

function decidedBy(lower: string, namesModel: boolean): Steers {
  const hyphenated = lower.replace(/[^a-z0-9]/g, "-");
  if (lower !== hyphenated && hyphenated.startsWith(OURS)) return "the caller";
  if (PLACES.has(hyphenated)) return "the target";
  const isRespelt = lower !== hyphenated && HOW_BODIES_ARE_READ.has(hyphenated);
  if (isRespelt || OVERRIDES.has(hyphenated)) return "the call";
  if (ELSEWHERE.has(lower) || (isSteeringName(lower) && !OF_PROXIES.test(lower))) return "the destination";
  return namesModel ? "the model" : "nothing";
}
