import { foldedName, MODEL_NAMES } from "../model/model-members.ts";
import { isSteeringName } from "./steering-names.ts";

/** Headers that concern one connection alone (RFC 9110 §7.6.1), with those that predate the rule. */
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
 * Headers of a client that never go upstream: its key in every carrier, also in Azure's, its cookies, those that we set
 * ourselves, those that choose the provider's account that pays or the credential that is asked with, which some SDKs
 * send by an environment variable and ours decides, and those that claim another origin, address, target or method for
 * the request, or have the usage left out of its answer, or the answer in base64. Names that `isSteeringName` knows are
 * kept back too.
 */
const NOT_FORWARDED = new Set<string>([
  ...HOP_BY_HOP,
  "anthropic-user-profile-id",
  "anthropic-workspace-id",
  "api-key",
  "authorization",
  "cf-aig-byok-alias",
  "cf-connecting-ip",
  "client-ip",
  "content-length",
  "cookie",
  "cookie2",
  "expect",
  "fastly-client-ip",
  "forwarded",
  "host",
  "openai-organization",
  "openai-project",
  "true-client-ip",
  "x-api-key",
  "x-client-ip",
  "x-cluster-client-ip",
  "x-envoy-original-path",
  "x-goog-api-key",
  "x-goog-encode-response-if-executable",
  "x-goog-fieldmask",
  "x-goog-user-project",
  "x-guploader-uploadid",
  "x-hf-bill-to",
  "x-host",
  "x-http-method",
  "x-http-method-override",
  "x-litellm-api-key",
  "x-method-override",
  "x-original-host",
  "x-original-uri",
  "x-original-url",
  "x-real-ip",
  "x-rewrite-url",
]);
const FORWARDING_CLAIM = "x-forwarded-";
/** Prefix that LiteLLM takes off a header before it passes it on. */
const PASSED_ON = /^(?:x-pass-)+/;
/**
 * Headers by which we read a body or an answer: under another spelling, an upstream might read or write another one.
 */
const HOW_MESSAGES_ARE_READ: ReadonlySet<string> = new Set(["accept-encoding", "content-encoding", "content-type"]);

/** Headers that choose a model although their names do not say so: of SageMaker's endpoints and of ModelMesh. */
const MODEL_CHOICES: ReadonlySet<string> = new Set([
  "mm-vmodel-id",
  "x-amzn-sagemaker-inference-component",
  "x-amzn-sagemaker-target-variant",
]);

/** Headers of an upstream that never reach a client: they would speak for our origin, or for our connection. */
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
  "timing-allow-origin",
  "www-authenticate",
  "x-content-type-options",
  "x-goog-upload-control-url",
  "x-goog-upload-url",
]);

/** Prefixes of further ones, which open an answer to the pages of other origins. */
const TO_OTHER_ORIGINS = ["access-control-", "cross-origin-"];

/** Prefix of the headers that only Keyplane sends and reads: no provider is to know whose memory a call means. */
const OURS = "x-keyplane-";

/** Facts about a header's name as it is spelt. */
type Spelling = {
  readonly name: string;
  readonly lower: string;
  /** True if a header of this name never goes upstream, whatever the configuration. */
  readonly notForwarded: boolean;
  /** True if an upstream may read a model in it: it is not forwarded if the request's model is checked. */
  readonly namesModel: boolean;
  /** True if a header of this name never reaches a client. */
  readonly notReturned: boolean;
};

/**
 * Spellings that are remembered, and their length: clients have few, and a client that invents them must not fill the
 * memory.
 */
const MAX_SPELLINGS = 1_000;
const MAX_LENGTH = 100;
const spellings = new Map<string, Spelling>();

/** Returns the facts about a name, which are worked out once and not anew for each request. */
export function spellingOf(name: string): Spelling {
  const known = spellings.get(name);
  if (known !== undefined) return known;
  const lower = name.toLowerCase();
  const [notForwarded, namesModel] = [staysHere(lower), isModelName(lower)];
  const notReturned = NOT_RETURNED.has(lower) || [OURS, ...TO_OTHER_ORIGINS].some((one) => lower.startsWith(one));
  const spelling = { name, lower, notForwarded, namesModel, notReturned };
  if (spellings.size < MAX_SPELLINGS && name.length <= MAX_LENGTH) spellings.set(name, spelling);
  return spelling;
}

/** Headers of a head whose names are remembered by their position. */
const MAX_POSITIONS = 64;

/**
 * Names of the last head of one sender, by position. The next head mostly has the same names in the same positions:
 * comparing a few bytes costs less than decoding them and looking the text up.
 */
export class SeenNames {
  readonly #seen: { readonly bytes: Buffer; readonly spelling: Spelling }[] = [];

  /** @param position position of the name in its head, counted from 0 */
  spellingOf(bytes: Buffer, position: number): Spelling {
    const seen = this.#seen[position];
    if (seen !== undefined && isSame(seen.bytes, bytes)) return seen.spelling;
    const spelling = spellingOf(bytes.toString("latin1"));
    // A copy: these bytes are a part of the whole chunk that they came in.
    if (position < MAX_POSITIONS) this.#seen[position] = { bytes: Buffer.from(bytes), spelling };
    return spelling;
  }
}

function isSame(one: Buffer, other: Buffer): boolean {
  if (one.length !== other.length) return false;
  for (let i = 0; i < one.length; i++) if (one[i] !== other[i]) return false;
  return true;
}

/**
 * True if a header of this name never goes upstream. Some upstreams take an underscore, or whatever else is no letter
 * or digit, for a hyphen. A name that holds a key of ours is a client's mistake.
 */
function staysHere(lower: string): boolean {
  const hyphenated = lower.replace(/[^a-z0-9]/g, "-").replace(PASSED_ON, "");
  if (NOT_FORWARDED.has(hyphenated) || hyphenated.startsWith(FORWARDING_CLAIM) || hyphenated.startsWith(OURS))
    return true;
  if (lower.includes("inf_") || isSteeringName(hyphenated)) return true;
  return lower !== hyphenated && HOW_MESSAGES_ARE_READ.has(hyphenated);
}

/**
 * True if a name, or a part of it, is a name that a model goes by, as in Azure ML's `azureml-model-deployment`.
 *
 * @param lower the name in lower case
 */
export function isModelName(lower: string): boolean {
  const parts = lower.split(/[^a-z0-9]+/);
  return [lower, ...parts].some((part) => MODEL_NAMES.has(foldedName(part))) || MODEL_CHOICES.has(parts.join("-"));
}
