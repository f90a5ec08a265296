import type { FastifyInstance, FastifyRequest, preValidationHookHandler } from "fastify";
import type { GatewayRecord, KeyRecord } from "../../domain/access/key-record.ts";
import type { OperationName } from "../../domain/access/operations.ts";
import type { OpenCall } from "../calls/calls.ts";
import { keepBody } from "../calls/open-call.ts";
import type { AnswerBudget } from "../http/answers/answer-budget.ts";
import { RESERVED_PAGE_BYTES, reserveAnswer } from "../http/answers/paced-response.ts";
import { PageSlots } from "../http/answers/page-slots.ts";
import { hasBody } from "../http/bodies/body-framing.ts";
import type { Carrier } from "./credential.ts";
import type { Granted } from "./decide.ts";
import { authenticateKey, authenticateKeyAgain, grantedOf, type KeyHookDeps } from "./key-hook.ts";
import { keepManagedBody, type ManagedBodyDeps, managedAnswerTeam } from "./management/body-holder.ts";
import { handleInSlots } from "./management/handle-in-slots.ts";
import {
  authenticatePrincipal,
  authenticatePrincipalAgain,
  type ManagementHookDeps,
} from "./management/management-hook.ts";
import type { Principal } from "./principal.ts";
import { declaredAccess, productOf } from "./route-config.ts";
import type { ConsoleSession } from "./session/authenticate-session.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** Last decision that let the request through; null until the hook has made it, and on public routes. */
    access: Granted | null;
    /** The call since its head came; null if there is no key. */
    openCall: OpenCall | null;
    /** The key that the request is made with. Throws on a public route. */
    readonly principal: KeyRecord;
    /** The gateway that the path names; null outside of the gateway. */
    readonly gateway: GatewayRecord | null;
    readonly operation: OperationName;
    readonly carrier: Carrier;
    /** Principal that is admitted to a management route, or to a page of the console; null elsewhere. */
    managementPrincipal: Principal | null;
    /**
     * Team whose memory budget the principal's answers take; null for a principal of the installation, and if there is
     * none.
     */
    readonly managementTeamId: string | null;
    /** Session that admitted the principal; null if a token did. On a page of the console there is always one. */
    session: ConsoleSession | null;
  }
}

/** Parts that authentication works with. */
type AuthDeps = KeyHookDeps & ManagementHookDeps & ManagedBodyDeps & { readonly answers: Pick<AnswerBudget, "limits"> };

/**
 * Puts authentication on every route that is registered from here on, and refuses routes that declare no access.
 *
 * It is one onRequest hook, bound to the matched route's declaration, before any body is read. It stands first among
 * the route's own hooks: a plugin's onRequest hooks run before it (the Host and Origin checks, spec §2.8), a route's
 * after.
 *
 * @param publicRoutes the patterns of all routes that need no key
 */
export function requireKeys(app: FastifyInstance, deps: AuthDeps, publicRoutes: ReadonlySet<string>): void {
  app.decorateRequest("access", null);
  app.decorateRequest("openCall", null);
  app.decorateRequest("principal", { getter: principalOf });
  app.decorateRequest("gateway", { getter: gatewayOf });
  app.decorateRequest("operation", { getter: operationOf });
  app.decorateRequest("carrier", { getter: carrierOf });
  app.decorateRequest("managementPrincipal", null);
  app.decorateRequest("managementTeamId", {
    getter(this: FastifyRequest) {
      return managedAnswerTeam(deps.index, this.managementPrincipal);
    },
  });
  app.decorateRequest("session", null);
  const keepManaged = keepManagedBody(deps);
  const inPageSlot = takePageSlots(deps);
  app.addHook("onRoute", (route) => {
    const access = declaredAccess(route, publicRoutes);
    if ("public" in access) return;
    const { url } = route;
    if ("management" in access || "console" in access) {
      route.onRequest = [authenticatePrincipal(deps, access, url), ...[route.onRequest ?? []].flat()];
      route.preParsing = [keepManaged, ...[route.preParsing ?? []].flat()];
      const again = authenticatePrincipalAgain(deps, access, url);
      // Lists and pages are GETs.
      const decideAgain = route.method === "GET" ? inPageSlot(again) : behindBody(again);
      route.preValidation = [decideAgain, ...[route.preValidation ?? []].flat()];
      route.preHandler = [handleInSlots(deps), ...[route.preHandler ?? []].flat()];
      return;
    }
    route.onRequest = [authenticateKey(deps, access, url, route.config?.refuse), ...[route.onRequest ?? []].flat()];
    // A body was waited for. The gateway reads its bodies by itself.
    if (productOf(access) === "memory") {
      route.preParsing = [keepBody, ...[route.preParsing ?? []].flat()];
      route.preValidation = [authenticateKeyAgain(deps), ...[route.preValidation ?? []].flat()];
    }
  });
}

/** Decides again if a body was waited for. */
function behindBody(again: preValidationHookHandler): preValidationHookHandler {
  return function (request, reply, done) {
    if (hasBody(request.raw)) return again.call(this, request, reply, done);
    done();
  };
}

/**
 * Takes memory for what a route answers, before its handler asks the database; decides again if a slot was waited for,
 * or a body. The memory's calls wait for slots at the database instead.
 */
function takePageSlots({
  answers,
}: Pick<AuthDeps, "answers">): (again: preValidationHookHandler) => preValidationHookHandler {
  const slots = new PageSlots(Math.floor(answers.limits.key / RESERVED_PAGE_BYTES));
  return (again) =>
    function (request, reply, done) {
      const { managementPrincipal, raw } = request;
      slots.take(managementPrincipal?.actor ?? "", reply.raw, (hasWaited) => {
        const full = reserveAnswer(reply.raw);
        if (full !== undefined || !(hasWaited || hasBody(raw))) return done(full);
        again.call(this, request, reply, done);
      });
    };
}

function principalOf(this: FastifyRequest): KeyRecord {
  return grantedOf(this).key;
}
function gatewayOf(this: FastifyRequest): GatewayRecord | null {
  return grantedOf(this).gateway;
}
function operationOf(this: FastifyRequest): OperationName {
  return grantedOf(this).operation;
}
function carrierOf(this: FastifyRequest): Carrier {
  return grantedOf(this).carrier;
}
