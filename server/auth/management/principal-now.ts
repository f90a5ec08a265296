import type { FastifyRequest } from "fastify";
import { problem } from "../../http/problems/problem.ts";
import type { Principal } from "../principal.ts";
import { type AuthenticationDeps, authenticateManagement } from "./authenticate-management.ts";

/**
 * Who a request comes from by now, while what it asks for takes long: its session may have ended since it came.
 *
 * @throws Problem `unauthorized` where it has
 */
export async function principalNow(deps: AuthenticationDeps, { raw }: Pick<FastifyRequest, "raw">): Promise<Principal> {
  const found = await authenticateManagement(deps, raw);
  if ("cause" in found) throw problem("unauthorized", "Your session has ended: sign in again.");
  return found.principal;
}
