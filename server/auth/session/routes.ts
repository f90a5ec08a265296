import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Clock } from "../../../runtime/clock.ts";
import type { Logger } from "../../../runtime/log.ts";
import type { Keyring } from "../../../store/encryption/keyring.ts";
import type { SignedIn } from "../../../store/sessions/sessions.ts";
import type { ServerConfig } from "../../context/config.ts";
import { isLoopbackHost, refuseForeignHosts } from "../../http/host-check.ts";
import { logFailure } from "../../http/problems/error-handler.ts";
import { problemOf } from "../../http/problems/problem-of.ts";
import { parseForms } from "../../pages/forms.ts";
import { protectPages } from "../../pages/headers.ts";
import { html } from "../../pages/html.ts";
import { recordForbidden } from "../refusals/record-forbidden.ts";
import { type RefusalDeps, recordRefusal } from "../refusals/record-refusal.ts";
import { unauthorized } from "../refused.ts";
import { memberNamesOf } from "../tokens/claims.ts";
import { IssuerUnavailableError } from "../tokens/issuer-http.ts";
import { ATTEMPT_MS, type Attempt, attemptsToForget, beginAttempt, openAttempt, sealAttempt } from "./attempt.ts";
import { authenticateSession, type SessionDeps } from "./authenticate-session.ts";
import { logoutRoute } from "./backchannel-route.ts";
import { renewSessionOf, signInAs, signInByLink, signOut } from "./change-session.ts";
import { clearCookie, readAttempts, readCookie, setCookie } from "./cookies.ts";
import { createIssuerClient, InteractionNeededError, type IssuerClient, SignInRefusedError } from "./issuer-client.ts";
import { reachedAt } from "./reached-at.ts";
import { CONSOLE, localPage, SIGN_IN } from "./return-to.ts";
import { ISSUER_AWAY, issuerUrl, linkNeeded, sendSignInPage, signInChoice, TRY_AGAIN } from "./sign-in-page.ts";

/** Characters of a claim's text that a page shows. */
const MAX_NAME = 100;
const SID = /^[ -~]{1,255}$/;

/** Milliseconds for which an issuer that did not answer is not asked about a session that still counts. */
const PUT_OFF_MS = 60_000;

/** Page that a sign-in returns to, and whether it only renews a session. */
type SignInReturn = Pick<Attempt, "returnTo" | "renews">;

/** Parts that people sign in and out with. */
type SignInDeps = SessionDeps &
  RefusalDeps & {
    readonly config: Pick<ServerConfig, "consoleClients">;
    /** Seals attempts to sign in. */
    readonly keyring: Keyring;
    readonly clock: Clock;
    readonly log: Logger;
    /** Prints a link that signs in to the console, on the machine of an embedded server. */
    readonly linkCommand?: string;
  };

/**
 * Registers the routes by which people get a session of the console, and end it: mounted where its pages are
 * (docs/decisions/console.md).
 */
export function sessionRoutes(app: FastifyInstance, deps: SignInDeps): void {
  const { config, clock, log, keyring } = deps;
  const clients = new Map(config.consoleClients.map((client) => [client.issuer, createIssuerClient(client, clock)]));
  parseForms(app);
  protectPages(app, config);
  app.addHook("onRequest", refuseForeignHosts(config));
  // The address may hold a one-time link, or an issuer's code.
  app.addHook("onRequest", async (_request, reply) => {
    reply.header("referrer-policy", "no-referrer");
  });
  recordForbidden(app, deps);
  app.setErrorHandler((error, request, reply) => showFailure(deps, error, request, reply));

  app.get("/sign-in", { config: { public: true } }, async (request, reply) => {
    const { searchParams } = targetOf(request, config);
    const link = searchParams.get("link");
    if (link !== null) return useLink(deps, request, reply, link);
    const returnTo = localPage(searchParams.get("returnTo") ?? undefined);
    const chosen = clients.get(searchParams.get("issuer") ?? "");
    const renews = searchParams.has("renew");
    if (chosen !== undefined) {
      const wanted = { returnTo, renews };
      return sendToIssuer(chosen, request, reply, wanted).catch((error) => putOff(error, request, reply, wanted));
    }
    const [only, ...others] = clients.keys();
    // A person who wanted a page goes straight to the only issuer; one who has just signed out is asked.
    if (only !== undefined && others.length === 0 && searchParams.has("returnTo")) {
      return reply.redirect(issuerUrl(only, returnTo), 303);
    }
    const content =
      only === undefined ? linkNeeded(linkCommand(request, deps)) : signInChoice([...clients.keys()], returnTo);
    return sendSignInPage(reply, 200, "Sign in", content);
  });

  async function sendToIssuer(
    client: IssuerClient,
    request: FastifyRequest,
    reply: FastifyReply,
    wanted: SignInReturn,
  ) {
    const attempt = beginAttempt({ issuer: client.issuer, ...wanted }, clock.now());
    const url = await client.authorizationUrl(callbackOf(request, config), attempt, attempt.renews);
    const sealed = sealAttempt(keyring, attempt);
    const begun = readAttempts(config, request.raw.rawHeaders);
    reply.header("set-cookie", [
      ...attemptsToForget(keyring, begun, sealed, clock.now()).map((state) => clearCookie({ attempt: state }, config)),
      setCookie({ attempt: attempt.state }, config, sealed, ATTEMPT_MS),
    ]);
    return reply.redirect(url.href, 303);
  }

  /** Shows the page if its issuer does not answer, and the session still counts meanwhile. */
  async function putOff(
    error: unknown,
    request: FastifyRequest,
    reply: FastifyReply,
    { renews, returnTo }: SignInReturn,
  ) {
    if (!renews || !(error instanceof IssuerUnavailableError)) throw error;
    if ("cause" in (await authenticateSession(deps, request.raw.rawHeaders))) throw error;
    log.warn({ error }, "a session is renewed later");
    reply.header("set-cookie", setCookie("renewal_put_off", config, "1", PUT_OFF_MS));
    return reply.redirect(returnTo, 303);
  }

  app.get("/callback", { config: { public: true } }, async (request, reply) => {
    const named = { attempt: targetOf(request, config).searchParams.get("state") ?? "" };
    const attempt = openAttempt(keyring, readCookie(named, config, request.raw.rawHeaders), clock.now());
    // Only for an attempt that was sealed: a query may name any cookie.
    if (attempt !== undefined) reply.header("set-cookie", clearCookie({ attempt: attempt.state }, config));
    const client = clients.get(attempt?.issuer ?? "");
    if (attempt === undefined || client === undefined) return refuse(deps, request, reply, "sign_in_attempt");
    const callback = new URL(callbackOf(request, config));
    callback.search = targetOf(request, config).search;
    try {
      const signedIn = signedInOf(client.issuer, await client.redeem(callback, attempt));
      if (signedIn === undefined) return refuse(deps, request, reply, "sign_in_claims");
      if (!attempt.renews) await signInAs(deps, request, reply, signedIn);
      else if (!(await renewSessionOf(deps, request, signedIn))) return signInAnew(attempt, reply);
    } catch (error) {
      if (attempt.renews && error instanceof InteractionNeededError) return signInAnew(attempt, reply);
      if (!(error instanceof SignInRefusedError)) return putOff(error, request, reply, attempt);
      log.warn({ error }, "sign-in failed: the issuer's response was not accepted");
      return refuse(deps, request, reply, "sign_in_refused");
    }
    return reply.redirect(attempt.returnTo, 303);
  });

  app.post("/sign-out", { config: { console: true, anyClaims: true } }, async (request, reply) => {
    const { session } = request;
    if (session === null) throw new Error("a page of the console was reached without a session");
    await signOut(deps, request, reply, session.digest);
    const there = await endSessionUrl(clients.get(session.issuer ?? ""), request);
    return reply.redirect(there?.href ?? SIGN_IN, 303);
  });

  /** Returns the URL to sign out at the issuer too. The session here has ended, whether the issuer answers or not. */
  async function endSessionUrl(client: IssuerClient | undefined, request: FastifyRequest): Promise<URL | undefined> {
    try {
      return await client?.endSessionUrl(`${reachedAt(request, config)}${SIGN_IN}`);
    } catch (error) {
      if (!(error instanceof IssuerUnavailableError)) throw error;
      log.warn({ error }, "a person has signed out here, but their session at the issuer goes on");
      return undefined;
    }
  }

  logoutRoute(app, deps);
}

/** Signs in by the issuer's own pages, if the session cannot be renewed silently. */
function signInAnew({ issuer, returnTo }: Attempt, reply: FastifyReply): FastifyReply {
  return reply.redirect(issuerUrl(issuer, returnTo), 303);
}

async function useLink(deps: SignInDeps, request: FastifyRequest, reply: FastifyReply, link: string) {
  if (await signInByLink(deps, request, reply, link)) return reply.redirect(`${CONSOLE}/`, 303);
  recordRefusal(deps, request, request.routeOptions.url, unauthorized("sign_in_link"));
  return sendSignInPage(reply, 401, "This link is no longer valid", linkNeeded(linkCommand(request, deps)));
}

/**
 * Returns the command that prints a link in a shell: of an embedded server with its data folder, which is shown only to
 * people who reach it by a name of its own machine; else with this server's address, and the installation's token in a
 * file.
 */
function linkCommand(request: FastifyRequest, { config, linkCommand }: SignInDeps): string {
  if (linkCommand !== undefined && isLoopbackHost(request.raw.headers.host)) return linkCommand;
  return `keyplane console --server ${reachedAt(request, config)} --token-file bootstrap-token`;
}

/** Refuses a sign-in. The page says only that the sign-in has failed: the cause is counted. */
function refuse(deps: SignInDeps, request: FastifyRequest, reply: FastifyReply, cause: string): FastifyReply {
  recordRefusal(deps, request, request.routeOptions.url, unauthorized(cause));
  return sendSignInPage(reply, 401, "You are not signed in", TRY_AGAIN);
}

function showFailure({ log }: SignInDeps, error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  if (error instanceof IssuerUnavailableError) {
    log.warn({ error }, "sign-in through an issuer is not possible at present");
    return sendSignInPage(reply, 503, "The issuer does not answer", [ISSUER_AWAY, TRY_AGAIN]);
  }
  const shown = problemOf(error, request.method);
  logFailure(log, request, { error, shown, message: "a request failed" });
  reply.headers(shown.headers);
  return sendSignInPage(reply, shown.status, shown.title, [html`<p>${shown.detail}</p>`, TRY_AGAIN]);
}

function signedInOf(issuer: string, claims: Awaited<ReturnType<IssuerClient["redeem"]>>): SignedIn | undefined {
  const member = memberNamesOf(claims);
  if (member === undefined) return undefined;
  const { subject, groups } = member;
  const claimed = [claims.name, claims.preferred_username, claims.email, subject];
  const names = claimed.map((text) => (typeof text === "string" ? shownName(text) : ""));
  return {
    person: { issuer, subject, groups },
    sid: typeof claims.sid === "string" && SID.test(claims.sid) ? claims.sid : null,
    displayName: names.find((name) => name !== "") ?? "",
  };
}

/** Returns a name as a page may show it and a database takes it, whatever an issuer says. */
function shownName(text: string): string {
  return Array.from(text.toWellFormed().replace(/\p{C}/gu, "")).slice(0, MAX_NAME).join("").trim();
}

type Reached = Pick<ServerConfig, "publicUrl">;

function targetOf(request: FastifyRequest, config: Reached): URL {
  return new URL(request.raw.url ?? "", reachedAt(request, config));
}

function callbackOf(request: FastifyRequest, config: Reached): string {
  return `${reachedAt(request, config)}${CONSOLE}/callback`;
}
