import type { FastifyReply, FastifyRequest } from "fastify";
import type { OwnedLimits } from "../../domain/access/declared-limits.ts";
import { chargeRoute, refundRates, refusingRate } from "../auth/charge-rate.ts";
import { rateLimited, tooManyCalls } from "../auth/decide.ts";
import { type AccessDeps, grantedOf, refusalOf, tellRates } from "../auth/key-hook.ts";
import type { Problem } from "../http/errors.ts";

/**
 * Holds a call to the limits of the route that it names, which its body has said: it is counted for the route until it
 * ends, and charged to its rate once, however many upstreams are asked. Where the route refuses it, its key and its team
 * have back what they were charged at the door.
 *
 * @returns the problem to answer where it is refused, counted and recorded
 */
export async function holdToRoute(
  deps: AccessDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  limits: OwnedLimits,
): Promise<Problem | undefined> {
  const { key, rates } = grantedOf(request);
  const { id, concurrent } = limits;
  if (concurrent !== null && request.openCall?.countFor(id, concurrent) === false) {
    tellRates({ rates: refundRates(deps, rates) }, reply.raw);
    return refusalOf(deps, request, tooManyCalls(key, "route"));
  }
  const ofRoute = await chargeRoute(deps, limits);
  const isRefused = refusingRate(ofRoute) !== undefined;
  const all = [...(isRefused ? refundRates(deps, rates) : rates), ...ofRoute];
  // The call may have been cut, and answered, while the database was asked.
  if (!reply.raw.headersSent) tellRates({ rates: all }, reply.raw);
  const refused = rateLimited(key, all);
  return refused && refusalOf(deps, request, refused);
}
