import type { FastifyReply, FastifyRequest, onRequestHookHandler, preValidationHookHandler } from "fastify";
import { OPERATIONS, type OperationName } from "../../domain/access/operations.ts";
import { CallerLeftError } from "../../store/database/errors.ts";
import type { OpenStreams } from "../calls/calls.ts";
import { TOO_MANY_CALLS, trackCall } from "../calls/open-call.ts";
import { Problem, problem } from "../http/problems/problem.ts";
import { problemOf, STALE_VIEW } from "../http/problems/problem-of.ts";
import type { UsageRecorder } from "../usage/usage-recorder.ts";
import { budgetProblem } from "./budget-problem.ts";
import { type MetRate, refundRates, refusingRate } from "./charge-rate.ts";
import { type DecisionDeps, decide, decideAgain, type Granted, type RouteAccess } from "./decide.ts";
import { type TokenDeciderDeps, tokenDecider } from "./decide-member.ts";
import { meetExpectation } from "./expect-continue.ts";
import { ANSWERED, finishHook, finishHookAsync, type HookOutcome } from "./hook-outcome.ts";
import { noteRates, retryAfterSeconds } from "./rate-headers.ts";
import { forbiddenKey } from "./refusals/forbidden-key.ts";
import { foreignAddress } from "./refusals/foreign-address.ts";
import { type RefusalDeps, recordRefusal } from "./refusals/record-refusal.ts";
import type { RefusalEvent } from "./refusals/refusal-event.ts";
import { type Refused, tooManyCalls } from "./refused.ts";
import { type KeyedAccess, productOf, type Refuse } from "./route-config.ts";
import { lacksScope, TOKEN_PROBLEMS } from "./tokens/token-problems.ts";

/** Parts that decide a request with a key, and record its refusal. */
export type AccessDeps = DecisionDeps & RefusalDeps;

/** Parts that authenticate requests with a key or a member's token. */
export type KeyHookDeps = AccessDeps &
  TokenDeciderDeps & {
    readonly streams: Pick<OpenStreams, "fullOf" | "track">;
    readonly usage: UsageRecorder;
  };

/**
 * Decides each request of a route, before anything of its body is read.
 *
 * @param url the route's pattern
 * @param refuse answers instead of the error handler
 */
export function authenticateKey(
  deps: KeyHookDeps,
  access: KeyedAccess,
  url: string,
  refuse: Refuse | undefined,
): onRequestHookHandler {
  const routeAccess = routeAccessOf(access);
  const decideToken = "memberTokens" in access ? tokenDecider(deps) : undefined;
  const notFound = "allow" in access ? problem("method_not_allowed", undefined, { allow: access.allow }) : NOT_FOUND;
  const settle = (decided: Granted | Refused, request: FastifyRequest, reply: FastifyReply): HookOutcome => {
    const call = decided.granted ? trackCall(deps.streams, request, reply, decided.key) : undefined;
    // Others of the key or its team may have taken the last place, while it waited or on another thread.
    const decision = decided.granted && typeof call === "string" ? tooManyCalls(decided.key, call) : decided;
    const rates = ratesOf(decided);
    noteRates(request.raw, typeof call === "string" ? refundRates(deps, rates) : rates);
    if (decision.granted) {
      request.access = decision;
      request.openCall = typeof call === "object" ? call : null;
      const { key, operation } = decision;
      const now = deps.clock.now();
      deps.usage.record(key, now, request);
      // A request whose body names its operation is counted once the body is read.
      if (OPERATIONS[operation].scope !== null) deps.usage.countRequest(key, operation, now);
      return meetExpectation(request.raw, reply.raw);
    }
    recordRefusal(deps, request, url, decision);
    const shown = problemFor(deps, request, decision, notFound);
    if (refuse === undefined) return shown;
    refuse(request, reply, shown);
    return ANSWERED;
  };
  return (request, reply, done) => {
    const { rawHeaders, url: target = "" } = request.raw;
    const route = routeAccess(request);
    const decided =
      decideToken?.(rawHeaders, target, route, request) ?? decide(deps, rawHeaders, target, route, request);
    if (!(decided instanceof Promise)) {
      finishHook(settle(decided, request, reply), done);
      return;
    }
    const settled = decided.then((decision) => {
      if (!reply.raw.destroyed) return settle(decision, request, reply);
      // The response of a caller who has left does not close again: a call that is tracked from here on would stay open
      // for ever.
      if (!decision.granted) recordRefusal(deps, request, url, decision);
      return CALLER_LEFT;
    });
    finishHookAsync(settled, done);
  };
}

/**
 * Returns the answer to a request that is refused.
 *
 * @param notFound answer to a path and method that are no operation
 */
export function problemFor(
  deps: AccessDeps,
  request: RefusalEvent["client"],
  { code, cause, key, by }: Refused,
  notFound: Problem,
): Problem {
  switch (by.kind) {
    case "budget":
      return budgetProblem(by.refusal, deps.clock.now());
    case "rate limit": {
      const refusing = refusingRate(by.rates);
      if (refusing !== undefined) return rateProblem(refusing);
      break;
    }
    case "concurrent calls":
      return TOO_MANY_CALLS[by.of];
    case "source address":
      return foreignAddress(request, by.list);
    case "access":
      if (key === undefined) break;
      return key.membership === undefined
        ? forbiddenKey(deps, request.raw, { cause, key, asked: by.asked })
        : lacksScope(key.membership);
  }
  return code === "not_found" ? notFound : (TOKEN_PROBLEMS.get(cause) ?? REFUSAL_PROBLEMS[code]);
}

/** Returns the rate limits that a request was judged by, whatever was decided. */
function ratesOf(decided: Granted | Refused): readonly MetRate[] {
  if (decided.granted) return decided.rates;
  return decided.by.kind === "rate limit" ? decided.by.rates : [];
}

/** Decides a request once more when its body is there. */
export function authenticateKeyAgain(deps: AccessDeps): preValidationHookHandler {
  return (request, _reply, done) => {
    const decision = accessNow(deps, request);
    if (decision instanceof Problem) done(decision);
    else done();
  };
}

/**
 * Decides a request that was let through once more, right before it takes effect: `request.access` has the decision
 * from then on. Counts and records a refusal, and returns the answer to it.
 */
export function accessNow(deps: AccessDeps, request: FastifyRequest, operation?: OperationName): Granted | Problem {
  const decision = decideAgain(deps, grantedOf(request), operation);
  if (!decision.granted) return refusalOf(deps, request, decision);
  request.access = decision;
  return decision;
}

/** Counts and records a refusal that came after authentication, and returns the answer to it. */
export function refusalOf(deps: AccessDeps, request: FastifyRequest, refused: Refused): Problem {
  recordRefusal(deps, request, request.routeOptions.url, refused);
  return problemFor(deps, request, refused, NOT_FOUND);
}

const OWNERS = { key: "This key's", team: "The team's", route: "The route's" } as const;

function rateProblem({ of, limit, amount = 1, verdict }: MetRate): Problem {
  const seconds = retryAfterSeconds(verdict);
  if (limit.unit !== undefined) {
    const most = Math.round(limit.requestsPerMinute * limit.unit);
    const detail = `${OWNERS[of]} limit of ${most} tokens a minute has no room for this call, which may use ${amount * limit.unit}: try again in ${seconds} s.`;
    return problem("rate_limited", detail, { "retry-after": seconds });
  }
  return problem("rate_limited", `${OWNERS[of]} rate limit is used up: try again in ${seconds} s.`, {
    "retry-after": seconds,
  });
}

/** Answers to refusals by their code, each made once: they are the same for every caller. */
const REFUSAL_PROBLEMS: Readonly<Record<Exclude<Refused["code"], "not_found">, Problem>> = {
  unavailable: STALE_VIEW,
  unauthorized: problem("unauthorized"),
  address_not_allowed: problem("address_not_allowed"),
  forbidden: problem("forbidden"),
  rate_limited: problem("rate_limited"),
  budget_exceeded: problem("budget_exceeded"),
  invalid_request: problem("invalid_request"),
};
const CALLER_LEFT = problemOf(new CallerLeftError("the caller has left"));
/** Answer to a path and method that are no operation, behind the key's check: a route's `refuse` may say more. */
export const NOT_FOUND = problem("not_found");

/** Returns a reader of what a route requires. If that is the same for every request, it is made once at the start. */
function routeAccessOf(access: KeyedAccess): (request: FastifyRequest) => RouteAccess {
  const operation = "operation" in access ? access.operation : undefined;
  if (typeof operation === "function") {
    return (request) => ({ product: "gateway", operation: operation(request), publicId: requestedPublicId(request) });
  }
  const product = productOf(access);
  if (product === "gateway") return (request) => ({ product, operation, publicId: requestedPublicId(request) });
  const routeAccess: RouteAccess = { product, operation, publicId: undefined };
  return () => routeAccess;
}

/** Returns the public id as the router matched it; the empty string, which no gateway has, if there is none. */
export function requestedPublicId(request: FastifyRequest): string {
  const { params } = request;
  if (typeof params !== "object" || params === null || !("publicId" in params)) return "";
  return typeof params.publicId === "string" ? params.publicId : "";
}

/** Returns the decision that let a request through. Throws on a public route. */
export function grantedOf(request: FastifyRequest): Granted {
  if (request.access === null) throw new Error("a public route asked for the key of its request");
  return request.access;
}
