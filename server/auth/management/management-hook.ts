import type { FastifyReply, FastifyRequest, onRequestHookHandler, preValidationHookHandler } from "fastify";
import { appendAudit } from "../../../store/audit/audit.ts";
import { inNetworkSlots } from "../../../store/database/management-slots.ts";
import { clientAddress } from "../../http/client-address.ts";
import { problem } from "../../http/problems/problem.ts";
import { presentsCredential } from "../credential.ts";
import { meetExpectation } from "../expect-continue.ts";
import { ANSWERED, finishHookAsync, type HookOutcome } from "../hook-outcome.ts";
import type { Principal } from "../principal.ts";
import { type RefusalDeps, recordRefusal } from "../refusals/record-refusal.ts";
import { networkOf } from "../refusals/refusal-rows.ts";
import { unauthorized } from "../refused.ts";
import type { ConsoleAccess, ManagedAccess } from "../route-config.ts";
import { hasCookie, setCookie } from "../session/cookies.ts";
import { refusalOfForeignPage } from "../session/own-page.ts";
import { renewUrl, SIGN_IN, signInUrl } from "../session/return-to.ts";
import { type Authenticated, type AuthenticationDeps, authenticateManagement } from "./authenticate-management.ts";
import { authorOf } from "./author.ts";

const NO_PRINCIPAL = problem(
  "unauthorized",
  "The management API takes the installation's token, or a JWT of a configured issuer, as `Authorization: Bearer <token>`; or the console's session. This one is missing, expired or wrong; an API key does not open it.",
);

/** Refusal of requests other than page views, which are redirected to sign in; htmx goes there by the header. */
const NO_SESSION = problem("unauthorized", "You are not signed in, or no longer: sign in, and try again.", {
  "hx-redirect": SIGN_IN,
});

/**
 * Refusal of a session whose claims are too old. A page's script then requests the page itself, which redirects it to
 * the issuer.
 */
const OLD_CLAIMS = problem(
  "unauthorized",
  "Your issuer was last asked about you more than 15 minutes ago. Open the console in another tab, which asks it again, and reload this page: what you have sent is sent once more, and has had no effect.",
);

/**
 * Refusal of a request to the console with another credential. Signing in again would not help: the next request
 * presents it too, for example if a proxy adds it.
 */
const OTHER_CREDENTIAL = problem(
  "unauthorized",
  "The console takes its session alone, and this request presents another credential: as `key` in its address, or in a header such as Authorization, which something between you and the server may add.",
);

/** Parts that authenticate requests to the management API and the console. */
export type ManagementHookDeps = AuthenticationDeps & RefusalDeps;

/**
 * Admits a request that {@link authenticateManagement} authenticates; to the console by a session alone. It does not
 * require a current index: a revocation must go through on a replica whose index is no longer current.
 */
export function authenticatePrincipal(
  deps: ManagementHookDeps,
  access: ManagedAccess | ConsoleAccess,
  url: string,
): onRequestHookHandler {
  const { allow } = access;
  const unserved = allow === undefined ? undefined : problem("method_not_allowed", undefined, { allow });
  return (request, reply, done) => {
    const { raw } = request;
    const admit = async () => {
      const found = await identifyPrincipal(deps, access, request, "head");
      if ("cause" in found) return refuseUnauthenticated(deps, { access, url, request, reply, ...found });
      if (isRenewalDue(access, found)) {
        const { config } = deps;
        const isPutOff = PUT_OFF_BY.some((name) => hasCookie(name, config, raw.rawHeaders));
        if (isPageView(raw) && !isPutOff) return sendTo(reply, renewUrl(found.session.issuer, raw.url));
        if (raw.method === "POST") reply.header("set-cookie", setCookie("after_form", config, "1", AFTER_FORM_MS));
      }
      await recordIfBootstrap(deps, request, url, found.principal);
      return meetExpectation(raw, reply.raw) ?? unserved;
    };
    finishHookAsync(admit(), done);
  };
}

/** Authenticates again after a wait: meanwhile a token may have expired, or a session have ended (spec §2.8). */
export function authenticatePrincipalAgain(
  deps: ManagementHookDeps,
  access: ManagedAccess | ConsoleAccess,
  url: string,
): preValidationHookHandler {
  return (request, reply, done) => {
    const admitAgain = async () => {
      const found = await identifyPrincipal(deps, access, request, "body");
      return "cause" in found ? refuseUnauthenticated(deps, { access, url, request, reply, ...found }) : undefined;
    };
    finishHookAsync(admitAgain(), done);
  };
}

/**
 * Notes a request's principal if it is authenticated, and admits the request without one too: then
 * `managementPrincipal` is null, and a presented credential is recorded as refused. To be called once the head is read,
 * and again once the body is.
 */
export function identifyIfKnown(deps: ManagementHookDeps, read: "head" | "body") {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    request.managementPrincipal = null;
    const found = await identifyPrincipal(deps, { management: true }, request, read);
    if (read === "body") return;
    const { raw } = request;
    const { url = "" } = request.routeOptions;
    if ("cause" in found) {
      // A client that tries out tokens here leaves a trace.
      const presents = presentsCredential(raw.rawHeaders, raw.url ?? "", deps.config.vendorHeader);
      if (presents) recordRefusal(deps, request, url, unauthorized(found.cause));
    } else await recordIfBootstrap(deps, request, url, found.principal);
    const unmet = meetExpectation(raw, reply.raw);
    if (unmet !== undefined) throw unmet;
  };
}

type Unauthenticated = {
  readonly access: ManagedAccess | ConsoleAccess;
  readonly url: string;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly cause: string;
  readonly renewBy?: string;
};

/**
 * Milliseconds of the claims' age from which on a page view asks the issuer anew: its form then works for some minutes
 * at least, unless the page is a form's answer.
 */
const RENEW_MS = 10 * 60_000;

/**
 * Milliseconds after a form in which a page view does not ask the issuer. Browsers let a form be redirected to the
 * addresses of its page's `form-action` alone, and an issuer may send people on to others.
 */
const AFTER_FORM_MS = 10_000;
const PUT_OFF_BY = ["renewal_put_off", "after_form"] as const;

/** Redirects a page view to sign in; any other request is refused, counted and recorded. */
function refuseUnauthenticated(
  deps: ManagementHookDeps,
  { access, url, request, reply, cause, renewBy }: Unauthenticated,
): HookOutcome {
  const { url: target = "", rawHeaders } = request.raw;
  const isOther = "console" in access && presentsCredential(rawHeaders, target, deps.config.vendorHeader);
  if ("console" in access && !isOther && isPageView(request.raw)) {
    return sendTo(reply, renewBy === undefined ? signInUrl(target) : renewUrl(renewBy, target));
  }
  recordRefusal(deps, request, url, unauthorized(cause));
  if (isOther) return OTHER_CREDENTIAL;
  if (renewBy !== undefined) return OLD_CLAIMS;
  return "console" in access ? NO_SESSION : NO_PRINCIPAL;
}

function isPageView({ method, headers }: FastifyRequest["raw"]): boolean {
  return (method === "GET" || method === "HEAD") && headers["hx-request"] === undefined;
}

/** True if the session of a page's request soon needs renewal by its issuer. */
function isRenewalDue<A extends Exclude<Authenticated, { cause: string }>>(
  access: ManagedAccess | ConsoleAccess,
  found: A,
): found is A & { readonly session: { readonly issuer: string } } {
  const { session } = found;
  return "console" in access && session !== null && session.issuer !== null && session.claimsAgeMs > RENEW_MS;
}

function sendTo(reply: FastifyReply, location: string): HookOutcome {
  reply.code(303).headers({ location, "cache-control": "no-store" }).send();
  return ANSWERED;
}

/**
 * Resolves a management request's principal and notes it on the request; or returns the cause of a 401.
 *
 * @param read how far the request has been read
 * @throws Problem for a request that another site's page may have sent with the session's cookie
 */
async function identifyPrincipal(
  deps: AuthenticationDeps,
  access: ManagedAccess | ConsoleAccess,
  request: FastifyRequest,
  read: "head" | "body",
): Promise<Authenticated> {
  const anyClaims = "console" in access && access.anyClaims;
  const found = await inNetworkSlots(networkOf(clientAddress(request)), () =>
    authenticateManagement(deps, request.raw, anyClaims),
  );
  if ("cause" in found) return found;
  const { principal, session } = found;
  if ("console" in access && session === null) return { cause: "no_session" };
  const foreign = session && refusalOfForeignPage(request, read, session, deps.config.publicUrl);
  if (foreign) throw foreign;
  request.managementPrincipal = principal;
  request.session = session;
  return found;
}

/** Records each use of the bootstrap token in the audit log before it has an effect; if that fails, it has none. */
async function recordIfBootstrap(
  { store }: Pick<ManagementHookDeps, "store">,
  request: FastifyRequest,
  route: string,
  { as }: Principal,
): Promise<void> {
  if (as !== "bootstrap" && as !== "emergency") return;
  const by = authorOf(request, undefined);
  await appendAudit(store.db, [
    { at: null, kind: "bootstrap_token.used", by, detail: { method: request.method, route } },
  ]);
}
