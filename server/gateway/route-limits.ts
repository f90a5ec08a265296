import type { FastifyReply, FastifyRequest } from "fastify";
import type { OwnedLimits } from "../../domain/access/declared-limits.ts";
import { chargeBody, type MetRate, refundRates, refusingRate } from "../auth/charge-rate.ts";
import { rateLimited, tooManyCalls } from "../auth/decide.ts";
import { type AccessDeps, grantedOf, refusalOf, tellRates } from "../auth/key-hook.ts";
import type { Problem } from "../http/errors.ts";

/**
 * Holds a call to what its body has said: to the limits of the route that it names, and to those of the tokens that it
 * is expected to use, of its key, its team and its route. It is counted for the route until it ends, and charged once,
 * however many upstreams are asked. Where one of them refuses it, its key and its team have back what they were charged
 * at the door.
 *
 * @param limits of the route; undefined for none
 * @param tokens how many it is expected to use; undefined where no limit counts them
 * @returns what it was charged to, or the problem to answer where it is refused, counted and recorded
 */
export async function holdToBody(
  deps: AccessDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  limits: OwnedLimits | undefined,
  tokens: number | undefined,
): Promise<Problem | readonly MetRate[]> {
  const { key, rates } = grantedOf(request);
  if (limits !== undefined && limits.concurrent !== null) {
    if (request.openCall?.countFor(limits.id, limits.concurrent) === false) {
      tellRates({ rates: refundRates(deps, rates) }, reply.raw);
      return refusalOf(deps, request, tooManyCalls(key, "route"));
    }
  }
  const ofBody = await chargeBody(deps, key, limits, tokens);
  const isRefused = refusingRate(ofBody) !== undefined;
  const all = [...(isRefused ? refundRates(deps, rates) : rates), ...ofBody];
  // The call may have been cut, and answered, while the database was asked.
  if (!reply.raw.headersSent) tellRates({ rates: all }, reply.raw);
  const refused = rateLimited(key, all);
  return refused === undefined ? ofBody : refusalOf(deps, request, refused);
}
