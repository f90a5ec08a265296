import type { FastifyRequest, onRequestHookHandler, preValidationHookHandler } from "fastify";
import { appendAudit } from "../../store/audit.ts";
import type { ServerDeps } from "../deps.ts";
import { hasBody } from "../http/body-framing.ts";
import { problem } from "../http/errors.ts";
import { authorOf } from "../management/author.ts";
import { authenticateManagement } from "./authenticate-management.ts";
import { meetExpectation } from "./expect-continue.ts";
import type { Principal } from "./principal.ts";
import { recordRefusal } from "./record-refusal.ts";
import type { ManagedAccess } from "./route-config.ts";

const NO_PRINCIPAL = problem(
  "unauthorized",
  "The management API takes the installation's token, or a JWT of a configured issuer, as `Authorization: Bearer <token>`. This one is missing, expired or wrong; an API key is none.",
);

/**
 * Lets through whom {@link authenticateManagement} knows. It does not ask for a current index: a revocation must go
 * through on a replica that has lost sight of the feed.
 */
export function authenticatePrincipal(deps: ServerDeps, { allow }: ManagedAccess, url: string): onRequestHookHandler {
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
export function authenticatePrincipalAgain(deps: ServerDeps, url: string): preValidationHookHandler {
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
