import type { ServerResponse } from "node:http";
import type { FastifyInstance, FastifyRequest, onRequestHookHandler, preValidationHookHandler } from "fastify";
import type { GatewayRecord, KeyRecord } from "../../domain/access/key-record.ts";
import type { OperationName } from "../../domain/access/operations.ts";
import type { RateVerdict } from "../../domain/access/rate-limit.ts";
import { appendAudit } from "../../store/audit.ts";
import type { OpenCall, ServerDeps } from "../deps.ts";
import { hasBody } from "../http/body-framing.ts";
import { Problem, problem } from "../http/errors.ts";
import { authorOf } from "../management/author.ts";
import { authenticateManagement } from "./authenticate-management.ts";
import type { Carrier } from "./credential.ts";
import { decide, decideAgain, type Granted, type Refused, type RouteAccess } from "./decide.ts";
import { meetExpectation } from "./expect-continue.ts";
import { keepBody, TOO_MANY_CALLS, trackCall } from "./open-call.ts";
import type { Principal } from "./principal.ts";
import { rateHeaders, retryAfterSeconds } from "./rate-headers.ts";
import { recordRefusal } from "./record-refusal.ts";
import { declaredAccess, type KeyedAccess, type ManagedAccess, productOf, type Refuse } from "./route-config.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** As what it was last let through; null until the hook has done so, and on public routes. */
    access: Granted | null;
    /** From its head on; null where there is no key. */
    openCall: OpenCall | null;
    /** The key that the request is made with. Throws on a public route. */
    readonly principal: KeyRecord;
    /** The gateway that the path names; null outside of the gateway. */
    readonly gateway: GatewayRecord | null;
    readonly operation: OperationName;
    readonly carrier: Carrier;
    /** Who is let through to a management route; null elsewhere. */
    managementPrincipal: Principal | null;
  }
}

/**
 * Puts authentication on every route that is registered from here on, and refuses routes that declare no access.
 *
 * It is one onRequest hook, bound to the matched route's declaration, before any body is read. It stands first among the
 * route's own hooks: a plugin's onRequest hooks run before it (the Host and Origin checks, spec §2.8), a route's after.
 *
 * @param publicRoutes the patterns of all routes that need no key
 */
export function requireKeys(app: FastifyInstance, deps: ServerDeps, publicRoutes: ReadonlySet<string>): void {
  app.decorateRequest("access", null);
  app.decorateRequest("openCall", null);
  app.decorateRequest("principal", { getter: principalOf });
  app.decorateRequest("gateway", { getter: gatewayOf });
  app.decorateRequest("operation", { getter: operationOf });
  app.decorateRequest("carrier", { getter: carrierOf });
  app.decorateRequest("managementPrincipal", null);
  app.addHook("onRoute", (route) => {
    const access = declaredAccess(route, publicRoutes);
    if ("public" in access) return;
    const { url } = route;
    const check =
      "management" in access
        ? authenticateManager(deps, access, url)
        : authenticate(deps, access, url, route.config?.refuse);
    route.onRequest = [check, ...[route.onRequest ?? []].flat()];
    if ("management" in access) {
      route.preValidation = [authenticateManagerAgain(deps, url), ...[route.preValidation ?? []].flat()];
    }
    // A body was waited for. The gateway reads its bodies by itself.
    if (!("management" in access) && productOf(access) === "memory") {
      route.preParsing = [keepBody, ...[route.preParsing ?? []].flat()];
      route.preValidation = [authenticateAgain(deps), ...[route.preValidation ?? []].flat()];
    }
  });
}

/**
 * Lets through whom {@link authenticateManagement} knows. It does not ask for a current index: a revocation must go through on a
 * replica that has lost sight of the feed.
 */
function authenticateManager(deps: ServerDeps, { allow }: ManagedAccess, url: string): onRequestHookHandler {
  const unserved = allow === undefined ? undefined : problem("method_not_allowed", undefined, { allow });
  return (request, reply, done) => {
    const { raw } = request;
    identifyPrincipal(deps, request, url).then(async (principal) => {
      if (principal === undefined) return done(NO_PRINCIPAL);
      if (principal.as === "bootstrap" || principal.as === "emergency") await recordBootstrapUse(deps, request, url);
      done(meetExpectation(raw, reply.raw) ?? unserved);
    }, done);
  };
}

/** A body was waited for, and meanwhile a token may have expired or been taken away (spec §2.8). */
function authenticateManagerAgain(deps: ServerDeps, url: string): preValidationHookHandler {
  return (request, _reply, done) => {
    if (!hasBody(request.raw)) return done();
    identifyPrincipal(deps, request, url).then(
      (principal) => done(principal === undefined ? NO_PRINCIPAL : undefined),
      done,
    );
  };
}

/** Whose a management request is, as it is noted on it; undefined for nobody's, which is counted and recorded. */
async function identifyPrincipal(
  deps: ServerDeps,
  request: FastifyRequest,
  url: string,
): Promise<Principal | undefined> {
  const decision = await authenticateManagement(deps, request.raw.rawHeaders);
  if ("principal" in decision) {
    request.managementPrincipal = decision.principal;
    return decision.principal;
  }
  recordRefusal(deps, request, url, { code: "unauthorized", cause: decision.cause, key: undefined });
  return undefined;
}

/** Each use of the bootstrap token is in the audit log before it has an effect; where it cannot be, it has none. */
async function recordBootstrapUse({ store }: ServerDeps, request: FastifyRequest, route: string): Promise<void> {
  const by = authorOf(request, undefined);
  await appendAudit(store.db, [
    { at: null, kind: "bootstrap_token.used", by, detail: { method: request.method, route } },
  ]);
}

/**
 * @param url the route's pattern
 * @param refuse answers instead of the error handler
 */
function authenticate(
  deps: ServerDeps,
  access: KeyedAccess,
  url: string,
  refuse: Refuse | undefined,
): onRequestHookHandler {
  const routeAccess = routeAccessOf(access);
  const notFound = "allow" in access ? problem("method_not_allowed", undefined, { allow: access.allow }) : NOT_FOUND;
  return (request, reply, done) => {
    const { raw } = request;
    const decision = decide(deps, raw.rawHeaders, raw.url ?? "", routeAccess(request));
    tellRate(decision, reply.raw);
    if (decision.granted) {
      request.access = decision;
      request.openCall = trackCall(deps.streams, request, reply, decision.key);
      deps.usage.record(decision.key, deps.clock.now(), request);
      done(meetExpectation(raw, reply.raw));
      return;
    }
    recordRefusal(deps, request, url, decision);
    const shown = problemFor(decision, notFound);
    if (refuse === undefined) done(shown);
    else refuse(request, reply, shown);
  };
}

function problemFor({ code, rate }: Refused, notFound: Problem): Problem {
  if (rate !== undefined) return rateLimited(rate);
  return code === "not_found" ? notFound : REFUSAL_PROBLEMS[code];
}

function authenticateAgain(deps: ServerDeps): preValidationHookHandler {
  return (request, _reply, done) => {
    const decision = accessNow(deps, request);
    if (decision instanceof Problem) done(decision);
    else done();
  };
}

/**
 * Decides a request that was let through once more, right before it takes effect: what it may do is in `request.access`
 * from then on. Counts and records a refusal, and gives the answer to it.
 */
export function accessNow(deps: ServerDeps, request: FastifyRequest, operation?: OperationName): Granted | Problem {
  const decision = decideAgain(deps, granted(request), operation);
  if (!decision.granted) return refusalOf(deps, request, decision);
  request.access = decision;
  return decision;
}

/** Counts and records a refusal that came after the door, and gives the answer to it. */
export function refusalOf(deps: ServerDeps, request: FastifyRequest, refused: Refused): Problem {
  recordRefusal(deps, request, request.routeOptions.url, refused);
  return problemFor(refused, NOT_FOUND);
}

/** Tells a client what is left of its key's rate limit, whatever the answer will be. */
function tellRate({ key, rate }: Granted | Refused, response: ServerResponse): void {
  if (rate === undefined || !key?.rateLimit) return;
  for (const [name, value] of Object.entries(rateHeaders(key.rateLimit, rate))) response.setHeader(name, value);
}

function rateLimited(rate: RateVerdict): Problem {
  return problem("rate_limited", undefined, { "retry-after": retryAfterSeconds(rate) });
}

/** One object for each answer: what is the same for every caller is made once. */
const REFUSAL_PROBLEMS: Readonly<Record<Exclude<Refused["code"], "not_found">, Problem>> = {
  unavailable: problem("unavailable"),
  unauthorized: problem("unauthorized"),
  forbidden: problem("forbidden"),
  rate_limited: TOO_MANY_CALLS,
};
const NOT_FOUND = problem("not_found");
const NO_PRINCIPAL = problem(
  "unauthorized",
  "The management API takes the installation's token, or a JWT of a configured issuer, as `Authorization: Bearer <token>`. This one is missing, expired or wrong; an API key is none.",
);

/** How to read what a route needs: once at start where it is the same for every request. */
function routeAccessOf(access: KeyedAccess): (request: FastifyRequest) => RouteAccess {
  const operation = "operation" in access ? access.operation : undefined;
  if (typeof operation === "function") {
    return (request) => ({ product: "gateway", operation: operation(request), publicId: publicIdOf(request) });
  }
  const product = productOf(access);
  if (product === "gateway") return (request) => ({ product, operation, publicId: publicIdOf(request) });
  const routeAccess: RouteAccess = { product, operation, publicId: undefined };
  return () => routeAccess;
}

/** The public id as the router matched it; the empty string, which no gateway has, where there is none. */
function publicIdOf(request: FastifyRequest): string {
  const { params } = request;
  if (typeof params !== "object" || params === null || !("publicId" in params)) return "";
  return typeof params.publicId === "string" ? params.publicId : "";
}

function granted(request: FastifyRequest): Granted {
  if (request.access === null) throw new Error("a public route asked for the key of its request");
  return request.access;
}
function principalOf(this: FastifyRequest): KeyRecord {
  return granted(this).key;
}
function gatewayOf(this: FastifyRequest): GatewayRecord | null {
  return granted(this).gateway;
}
function operationOf(this: FastifyRequest): OperationName {
  return granted(this).operation;
}
function carrierOf(this: FastifyRequest): Carrier {
  return granted(this).carrier;
}
