import type { OperationName } from "../../domain/access/operations.ts";
import type { Scope } from "../../domain/access/scopes.ts";
import { containsWholeKey } from "../../domain/redact.ts";
import { hasQueryKey } from "../auth/credential.ts";
import { chargeGranted, decideUnlimited, type Granted, type RouteAccess } from "../auth/decide.ts";
import type { Refused } from "../auth/refused.ts";
import { forbidden } from "../auth/refused.ts";
import { classify } from "../gateway/classify.ts";
import { forwardedQuery } from "../gateway/query.ts";
import { Problem, problem } from "../http/problems/problem.ts";
import { type AskedRequest, readAskedRequest } from "./asked-request.ts";
import type { Asker } from "./asker.ts";
import type { ProxyQuestion } from "./check-request.ts";
import { type AskedCall, isModelRead, judgeBody, refuseCall, STEERED } from "./gateway-verdict.ts";
import { headerFault } from "./steering-headers.ts";
import { narrowerThan, unheldLimit } from "./unheld.ts";
import { type Denied, deny, denyUnheld, denyUnsafe, type Verdict, type VerifierDeps } from "./verdict.ts";
import type { VerifierPath } from "./verifier-path.ts";

/** Operation that stands for each scope alone. */
const OF_SCOPES: Readonly<Record<Scope, OperationName>> = {
  "gateway:generate": "scope.gateway_generate",
  "gateway:embed": "scope.gateway_embed",
  "gateway:routes": "scope.gateway_routes",
  "gateway:files": "scope.gateway_files",
  "memory:read": "scope.memory_read",
  "memory:write": "scope.memory_write",
};

const QUERY_KEY = problem(
  "invalid_request",
  "The key stands in the query, where the proxy cannot take it off and the server behind it would log it: send it in a header, such as `Authorization: Bearer`.",
);

/** Reasons for which a proxy must not pass on a header. */
const HEADER_FAULTS = {
  claim:
    "is one that some servers read as one of X-Keyplane-*, which only the verifier sends: send the request without",
  "stray key":
    "has a key, which the proxy would not take off: send it in one header alone, such as `Authorization: Bearer`",
  steered:
    "names another call, destination or body, which the gateway would take off and a proxy passes on: send the request without",
} as const;
const STRAY_KEY = problem(
  "invalid_request",
  "The path or the query has a key, which the proxy would not take off: send it in one header alone, such as `Authorization: Bearer`.",
);
/** Longest name of a header that an answer repeats. */
const MOST_NAMED = 100;

/** Decided question: the request, if it could be read, and the verdict on it. */
export type Decided = { readonly asked: AskedRequest | undefined; readonly verdict: Verdict | Promise<Verdict> };

/**
 * Decides the request that a proxy asks about, by what the proxy's configuration protects (spec §2). It waits for nothing
 * but a body that names a model, and now and then for a limit of the installation.
 */
export function verify(deps: VerifierDeps, path: VerifierPath, question: ProxyQuestion, asker: Asker): Decided {
  const asked = readAskedRequest(path.proxy, question, path.rest);
  if (asked instanceof Problem) {
    return { asked: undefined, verdict: deny(asked, forbidden("unreadable_question", undefined)) };
  }
  const unsafe = unsafeBy(deps, path, asked, question);
  if (unsafe !== undefined) return { asked, verdict: denyUnsafe(unsafe) };
  const { protects } = path;
  const call = "publicId" in protects ? classify(asked.method, asked.path.slice(1)) : undefined;
  const route: RouteAccess =
    "publicId" in protects
      ? { product: "gateway", operation: call?.operation, publicId: protects.publicId }
      : { product: "key", operation: OF_SCOPES[protects.scope], publicId: undefined };
  const askedCall = call && { proxy: path.proxy, asked, call, question };
  const refuse = (granted: Granted): Denied | undefined => refuseByRights(path, granted, askedCall);
  const goOn = (decision: Granted | Refused): Verdict | Promise<Verdict> => {
    if (!decision.granted) return { granted: false, refused: decision };
    if (askedCall === undefined || !isModelRead(decision, askedCall.call)) return decision;
    return judgeBody(deps, decision, askedCall, refuse);
  };
  const decided = decideUnlimited(deps, question.rawHeaders, "", route, asker);
  if (!decided.granted) return { asked, verdict: { granted: false, refused: decided } };
  const denied = refuse(decided);
  if (denied !== undefined) return { asked, verdict: denied };
  const charged = chargeGranted(deps, decided);
  if (!(charged instanceof Promise)) return { asked, verdict: goOn(charged) };
  // The key may have been narrowed while a limit of the installation was asked for.
  const verdict = charged.then((waited) => (waited.granted ? refuse(waited) : undefined) ?? goOn(waited));
  return { asked, verdict };
}

/** Returns the answer to a request of which the proxy would pass on what the gateway takes off; undefined for any other. */
function unsafeBy(
  { config }: VerifierDeps,
  { proxy, protects }: VerifierPath,
  { path, query }: AskedRequest,
  { rawHeaders }: ProxyQuestion,
): Problem | undefined {
  if (hasQueryKey(query)) return QUERY_KEY;
  // A key is one segment of a path: a short name and those below it are none.
  const isInPath = containsWholeKey(path) && path.split("/").some(containsWholeKey);
  if (isInPath || containsWholeKey(query)) return STRAY_KEY;
  const fault = headerFault(rawHeaders, proxy, protectsModels(protects), config.vendorHeader);
  if (fault !== undefined) {
    return problem("invalid_request", `The header ${fault.name.slice(0, MOST_NAMED)} ${HEADER_FAULTS[fault.is]}.`);
  }
  return "publicId" in protects && forwardedQuery(query) !== query ? STEERED : undefined;
}

/** True if models are asked behind the proxy, by a gateway's paths or by others. */
function protectsModels(protects: VerifierPath["protects"]): boolean {
  return "publicId" in protects || protects.scope.startsWith("gateway:");
}

/** Refuses a key whose rights or limits cannot be held at a proxy, before anything is charged; undefined for any other. */
function refuseByRights(
  { protects, isUnmetered }: VerifierPath,
  granted: Granted,
  askedCall: AskedCall | undefined,
): Denied | undefined {
  const { key } = granted;
  const limit = isUnmetered ? undefined : unheldLimit(key, protectsModels(protects));
  if (limit !== undefined) return denyUnheld(key, limit);
  if ("scope" in protects) {
    const narrower = narrowerThan([protects.scope], key);
    return narrower === undefined ? undefined : denyUnheld(key, narrower);
  }
  if (askedCall === undefined) throw new Error("a path that is no operation was let through");
  return refuseCall(granted, askedCall);
}
