import { foldedName, MODEL_NAMES } from "../model/model-places.ts";
import { isSteeringName } from "./steering-names.ts";

/** Names that concern one connection alone (RFC 9110 §7.6.1), with the ones that predate the rule. */
const HOP_BY_HOP = [
  "connection",
  "http2-settings",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
] as const;

/**
 * What of a client's head never goes upstream: its key in every carrier, its cookies, what we set ourselves, and what
 * claims for the request another origin, address, target or method than its own, or has its answer leave out what it
 * used. Beside these stays what `isSteeringName` knows.
 */
const NOT_FORWARDED = new Set<string>([
  ...HOP_BY_HOP,
  "authorization",
  "cf-connecting-ip",
  "client-ip",
  "content-length",
  "cookie",
  "cookie2",
  "expect",
  "fastly-client-ip",
  "forwarded",
  "host",
  "true-client-ip",
  "x-api-key",
  "x-client-ip",
  "x-cluster-client-ip",
  "x-envoy-original-path",
  "x-goog-api-key",
  "x-goog-fieldmask",
  "x-host",
  "x-http-method",
  "x-http-method-override",
  "x-method-override",
  "x-original-host",
  "x-original-uri",
  "x-original-url",
  "x-real-ip",
  "x-rewrite-url",
]);
const FORWARDING_CLAIM = "x-forwarded-";
/** What we go by where we read a body or an answer: another spelling would have an upstream read or write another one. */
const HOW_MESSAGES_ARE_READ: ReadonlySet<string> = new Set(["accept-encoding", "content-encoding", "content-type"]);

/** What chooses a model and does not say so: of SageMaker's endpoints and of ModelMesh. */
const MODEL_CHOICES: ReadonlySet<string> = new Set([
  "mm-vmodel-id",
  "x-amzn-sagemaker-inference-component",
  "x-amzn-sagemaker-target-variant",
]);

/** What of an upstream's head never reaches a client: it would speak for our origin, or for our connection. */
const NOT_RETURNED = new Set<string>([
  ...HOP_BY_HOP,
  "accept-ch",
  "alt-svc",
  "clear-site-data",
  "content-security-policy",
  "content-security-policy-report-only",
  "location",
  "nel",
  "public-key-pins",
  "refresh",
  "report-to",
  "reporting-endpoints",
  "sec-session-challenge",
  "sec-session-registration",
  "secure-session-challenge",
  "secure-session-registration",
  "service-worker-allowed",
  "set-cookie",
  "set-cookie2",
  "set-login",
  "strict-transport-security",
  "www-authenticate",
  "x-content-type-options",
]);

/** What Keyplane alone says of an answer, and is said to it alone: whose memory a call means is no provider's to know. */
const OURS = "x-keyplane-";

/** What is known of a header's name as it is spelt. */
type Spelling = {
  readonly name: string;
  readonly lower: string;
  /** Whether a header of this name never goes upstream, whatever the configuration. */
  readonly notForwarded: boolean;
  /** Whether an upstream may read a model in it: not forwarded where a model is decided on. */
  readonly namesModel: boolean;
  /** Whether a header of this name never reaches a client. */
  readonly notReturned: boolean;
};

/** Spellings that are remembered: clients have few, and one who invents them shall not fill the memory. */
const MAX_SPELLINGS = 1_000;
const spellings = new Map<string, Spelling>();

/** What is known of a name, without making it out anew for each request. */
export function spellingOf(name: string): Spelling {
  const known = spellings.get(name);
  if (known !== undefined) return known;
  const lower = name.toLowerCase();
  const [notForwarded, namesModel] = [staysHere(lower), isModelName(lower)];
  const notReturned = NOT_RETURNED.has(lower) || lower.startsWith(OURS);
  const spelling = { name, lower, notForwarded, namesModel, notReturned };
  if (spellings.size < MAX_SPELLINGS) spellings.set(name, spelling);
  return spelling;
}

/** Headers of a head whose names are remembered by their place. */
const MAX_PLACES = 64;

/**
 * The names of the last head of one sender, which mostly has the same ones in the same places as the next: to compare a
 * few bytes costs less than to decode them and to look the text up.
 */
export class SeenNames {
  readonly #seen: { readonly bytes: Buffer; readonly spelling: Spelling }[] = [];

  /** @param place the name's place in its head, counted from 0 */
  spellingOf(bytes: Buffer, place: number): Spelling {
    const seen = this.#seen[place];
    if (seen !== undefined && isSame(seen.bytes, bytes)) return seen.spelling;
    const spelling = spellingOf(bytes.toString("latin1"));
    // A copy: these are a part of all that came with them.
    if (place < MAX_PLACES) this.#seen[place] = { bytes: Buffer.from(bytes), spelling };
    return spelling;
  }
}

function isSame(one: Buffer, other: Buffer): boolean {
  if (one.length !== other.length) return false;
  for (let i = 0; i < one.length; i++) if (one[i] !== other[i]) return false;
  return true;
}

/**
 * Some upstreams take an underscore, or whatever else is no letter or digit, for a hyphen. A name that holds a key of
 * ours is one of a client's mistakes.
 */
function staysHere(lower: string): boolean {
  const hyphenated = lower.replace(/[^a-z0-9]/g, "-");
  if (NOT_FORWARDED.has(hyphenated) || hyphenated.startsWith(FORWARDING_CLAIM) || hyphenated.startsWith(OURS))
    return true;
  if (lower.includes("inf_") || isSteeringName(lower)) return true;
  return lower !== hyphenated && HOW_MESSAGES_ARE_READ.has(hyphenated);
}

/**
 * Whether a part of a name is one that a model goes by, as in Azure ML's `azureml-model-deployment`.
 *
 * @param lower in lower case
 */
export function isModelName(lower: string): boolean {
  const parts = lower.split(/[^a-z0-9]+/);
  return [lower, ...parts].some((part) => MODEL_NAMES.has(foldedName(part))) || MODEL_CHOICES.has(parts.join("-"));
}
