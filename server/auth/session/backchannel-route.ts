import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Clock } from "../../../runtime/clock.ts";
import type { Logger } from "../../../runtime/log.ts";
import { appendAudit } from "../../../store/audit/audit.ts";
import type { Store } from "../../../store/database/store.ts";
import { endSessionsOnce, type LogoutRequest } from "../../../store/sessions/sessions.ts";
import type { ServerConfig } from "../../context/config.ts";
import { boundUnknownBodies } from "../../http/bodies/unknown-bodies.ts";
import { logFailure, sendProblem } from "../../http/problems/error-handler.ts";
import { problemOf } from "../../http/problems/problem-of.ts";
import { authorAs } from "../management/author.ts";
import { type RefusalDeps, recordRefusal } from "../refusals/record-refusal.ts";
import { unauthorized } from "../refused.ts";
import { IssuerUnavailableError } from "../tokens/issuer-http.ts";
import { createLogoutValidator } from "./logout-token.ts";

/** The answer to a token that ends nothing (OpenID Connect Back-Channel Logout §2.8). */
const INVALID = { error: "invalid_request" };

/** The answer to a token that is to be sent again: its issuer does not answer, or this server has no memory left. */
const UNAVAILABLE = { error: "temporarily_unavailable" };

/**
 * Bytes of a body at most: twice the longest token. The route is public: a body that is too long for a token is not
 * held.
 */
const MAX_BODY = 16 << 10;

/** Parts that end the sessions of people who signed out at an issuer. */
type LogoutDeps = RefusalDeps & {
  readonly store: Store;
  readonly config: Pick<ServerConfig, "consoleClients">;
  readonly clock: Clock;
  readonly log: Logger;
};

/**
 * Registers the route at which an issuer reports that a person has signed out: their sessions end on every replica with
 * the next request.
 */
export function logoutRoute(app: FastifyInstance, deps: LogoutDeps): void {
  const { log } = deps;
  const validateLogout = createLogoutValidator(deps.config.consoleClients, deps.clock);

  app.post("/backchannel-logout", {
    config: { public: true },
    bodyLimit: MAX_BODY,
    preParsing: boundUnknownBodies((_request, reply) => reply.code(503).send(UNAVAILABLE)),
    errorHandler(error, request, reply) {
      const isAway = error instanceof IssuerUnavailableError;
      const shown = problemOf(error, request.method);
      if (isAway) log.warn({ error }, "cannot verify an issuer's logout token");
      else logFailure(log, request, { error, shown, message: "a request failed" });
      if (isAway) reply.code(503).send(UNAVAILABLE);
      else sendProblem(reply, shown);
    },
    async handler(request, reply) {
      reply.header("cache-control", "no-store");
      const token = tokenOf(request.body);
      const logout = token === undefined ? undefined : await validateLogout(token);
      const ended = logout && (await endSessions(deps, request, logout));
      if (ended !== undefined) return reply.code(200).send();
      recordRefusal(deps, request, request.routeOptions.url, unauthorized("logout_token"));
      return reply.code(400).send(INVALID);
    },
  });
}

/** Ends the sessions, and returns how many have ended; undefined for a token that was taken before. */
function endSessions(
  { store }: LogoutDeps,
  request: FastifyRequest,
  logout: LogoutRequest,
): Promise<number | undefined> {
  const { issuer, subject, sid } = logout;
  return store.db.transaction().execute(async (tx) => {
    const count = await endSessionsOnce(tx, logout);
    const event = { at: null, kind: "session.ended", by: authorAs(issuer, request), detail: { subject, sid, count } };
    if (count) await appendAudit(tx, [event]);
    return count;
  });
}

function tokenOf(body: unknown): string | undefined {
  if (typeof body !== "object" || body === null || !("logout_token" in body)) return undefined;
  return typeof body.logout_token === "string" ? body.logout_token : undefined;
}
