import type { FastifyRequest } from "fastify";
import { problem } from "../../http/problems/problem.ts";
import type { Principal } from "../principal.ts";
import { type AuthenticationDeps, authenticateManagement } from "./authenticate-management.ts";

/**
 * Returns the principal of a request as of now, for requests that take long: its session may have ended since it came.
 *
 * @throws Problem `unauthorized` if it has
 */
export async function principalNow(deps: AuthenticationDeps, { raw }: Pick<FastifyRequest, "raw">): Promise<Principal> {
  const found = await authenticateManagement(deps, raw);
  if ("cause" in found) throw problem("unauthorized", "Your session has ended: sign in again.");
  return found.principal;
}
