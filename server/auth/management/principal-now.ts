import type { FastifyRequest } from "fastify";
import type { Tx } from "../../../store/database/change.ts";
import { holdSession } from "../../../store/sessions/sessions.ts";
import { problem } from "../../http/problems/problem.ts";
import type { Principal } from "../principal.ts";
import { type AuthenticationDeps, authenticateManagement } from "./authenticate-management.ts";

const SESSION_ENDED = problem("unauthorized", "Your session has ended: sign in again.");

/**
 * Returns the principal of a request as of now, for requests that take long: its session may have ended since it came.
 *
 * @throws Problem `unauthorized` if it has
 */
export async function principalNow(deps: AuthenticationDeps, { raw }: Pick<FastifyRequest, "raw">): Promise<Principal> {
  const found = await authenticateManagement(deps, raw);
  if ("cause" in found) throw SESSION_ENDED;
  return found.principal;
}

/**
 * Requires that a principal's session, if it has one, has not ended, and holds it until the transaction ends: what ends
 * it waits (threats b431).
 *
 * @throws Problem `unauthorized` if it has ended since the request was let through
 */
export async function requireSessionStill(tx: Tx, { session }: Principal): Promise<void> {
  if (session !== undefined && !(await holdSession(tx, session))) throw SESSION_ENDED;
}
