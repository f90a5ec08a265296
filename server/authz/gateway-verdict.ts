/** A call that a proxy passes to the upstream of a gateway: decided as under `/g/`, as far as the verifier sees it. */
import { permits } from "../../domain/access/authorize.ts";
import { GATEWAY_OPERATIONS } from "../../domain/access/gateway-operations.ts";
import { decideAgain, type Granted } from "../auth/decide.ts";
import { forbidden } from "../auth/refused.ts";
import type { CutCause } from "../calls/calls.ts";
import { CUT_PROBLEMS } from "../calls/open-call.ts";
import type { GatewayCall } from "../gateway/classify.ts";
import { headerOf, readHead } from "../gateway/headers/headers.ts";
import { modelsIn, readModels } from "../gateway/model/requested-model.ts";
import { mayName, needsModel, resolve } from "../gateway/resolve.ts";
import { releaseLargeBody } from "../http/bodies/received-body.ts";
import { Problem, problem } from "../http/problems/problem.ts";
import { problemOf } from "../http/problems/problem-of.ts";
import { type AskedRequest, type ProxyKind, showsBody, singleHeader } from "./asked-request.ts";
import { CheckedRequest, type ProxyQuestion } from "./check-request.ts";
import { namesModel } from "./steering-headers.ts";
import { unheldCall } from "./unheld.ts";
import { type Denied, deny, denyUnheld, denyUnsafe, type Verdict, type VerifierDeps } from "./verdict.ts";

const NOTHING = Buffer.alloc(0);

/** Call that a proxy asks about. */
export type AskedCall = {
  readonly proxy: ProxyKind;
  readonly asked: AskedRequest;
  readonly call: GatewayCall;
  /** The proxy's question, which may have the call's body. */
  readonly question: ProxyQuestion;
};

export const STEERED = problem(
  "invalid_request",
  "The request has a header or a parameter that names another call, destination, body or model, which the gateway would take off and a proxy passes on: send it without.",
);

/**
 * Refuses what depends on a call's gateway, once its key may make it, but for a model that a body names; undefined if
 * nothing does.
 */
export function refuseCall(granted: Granted, { call, question, proxy }: AskedCall): Denied | undefined {
  const { key, gateway } = granted;
  if (gateway === null) throw new Error("a gateway's call was let through without its gateway");
  const unheld = unheldCall(call, gateway, key);
  if (unheld !== undefined) return denyUnheld(key, unheld);
  if (!isModelRead(granted, call)) {
    const { answer } = GATEWAY_OPERATIONS[call.operation];
    return answer === "route list" || answer === "route" ? undefined : judgeModel(granted, call);
  }
  if (namesModel(question.rawHeaders)) return denyUnsafe(STEERED);
  const unshown = unshownBody(proxy, question);
  return unshown === undefined ? undefined : denyUnheld(key, unshown);
}

/** True if a call's body is read for the model that it names. */
export function isModelRead({ key, gateway }: Granted, { operation }: GatewayCall): boolean {
  const { models } = GATEWAY_OPERATIONS[operation];
  return gateway !== null && models !== "none" && models !== "unused" && needsModel(gateway, key.allowedModels);
}

/** Returns the reason why a question does not show the whole body; undefined if it does. */
function unshownBody(proxy: ProxyKind, question: ProxyQuestion): string | undefined {
  const wanted = "This call is decided by its model, which its body names";
  if (!showsBody(proxy)) {
    return `${wanted}, and ${proxy} shows no body to a verifier: call through Keyplane's own gateway, or behind Envoy.`;
  }
  const { rawHeaders } = question;
  const isWhole = proxy === "envoy" ? singleHeader(rawHeaders, "x-envoy-auth-partial-body") === "false" : true;
  const hasBody = question instanceof CheckedRequest ? hasWholeBody(question) : declaresBody(rawHeaders);
  if (!isWhole || !hasBody || singleHeader(rawHeaders, "content-type") === undefined) {
    return `${wanted}: its operator has the proxy show the verifier all of the body, and its Content-Type and Content-Encoding.`;
  }
  const coding = singleHeader(rawHeaders, "content-encoding") ?? "identity";
  return coding.trim().toLowerCase() === "identity" ? undefined : `${wanted}: send it uncompressed.`;
}

function declaresBody(rawHeaders: readonly string[]): boolean {
  const length = singleHeader(rawHeaders, "content-length");
  return length === undefined ? singleHeader(rawHeaders, "transfer-encoding") !== undefined : length !== "0";
}

function hasWholeBody({ body, rawHeaders }: CheckedRequest): boolean {
  if (body === undefined || body.length === 0) return false;
  const length = headerOf(rawHeaders, "content-length");
  return length === undefined || length === String(body.length);
}

/**
 * Reads the body for its model, as the gateway does, and decides again by what is then. It counts for no limit of
 * concurrent calls: where one matters, the question has been refused.
 *
 * @param refuse refuses what does not depend on the body
 */
export function judgeBody(
  deps: VerifierDeps,
  granted: Granted,
  { call, question, asked }: AskedCall,
  refuse: (again: Granted) => Denied | undefined,
): Promise<Verdict> {
  const { promise, resolve: settle } = Promise.withResolvers<Verdict>();
  const isRead = question instanceof CheckedRequest;
  const cut = (cause: CutCause): void => settle(deny(CUT_PROBLEMS[cause]));
  const open = deps.streams.watch(granted.key, cut, isRead ? undefined : question);
  const head = readHead(question.rawHeaders, deps.config.vendorHeader);
  const read = async (): Promise<Verdict> => {
    const inspected = { call, head, query: asked.query };
    const { model, text } = isRead
      ? await modelsIn(inspected, () => question.body ?? NOTHING)
      : await readModels(open, { request: question, ...inspected });
    releaseLargeBody(text);
    const again = decideAgain(deps, granted);
    if (!again.granted) return { granted: false, refused: again };
    return refuse(again) ?? judgeModel(again, call, model) ?? again;
  };
  read()
    .catch((error: unknown) => deny(problemOf(error)))
    .then(settle)
    .finally(() => open.end());
  return promise;
}

const REWRITTEN =
  "This model names a logical route, and a proxy does not write the upstream's model in its place: name the upstream's model, or call through Keyplane's own gateway.";

/** Refuses a model that the key may not name, that no upstream takes, or that only the gateway could replace. */
function judgeModel({ key, gateway }: Granted, call: GatewayCall, model = call.model): Denied | undefined {
  if (gateway === null) return undefined;
  const { allowedModels } = key;
  const may = { allowedModels, mayResolveRoutes: permits(key, "gateway.resolve_route") };
  const resolved = resolve(gateway, may, call.dialect ?? "openai", model);
  if (!(resolved instanceof Problem)) return resolved.routeId === undefined ? undefined : denyUnheld(key, REWRITTEN);
  if (resolved.code !== "forbidden") return deny(resolved);
  return deny(resolved, forbidden(mayName(allowedModels, model) ? "scope_missing" : "model_not_allowed", key));
}
