import { rateCost } from "../../domain/access/rate-limit.ts";
import type { UsedTokens } from "../../domain/usage/token-reservation.ts";
import { drawnFrom, type MetRate, type RateDeps } from "./charge-rate.ts";

/** Nanoseconds in a millisecond. */
const NANOSECONDS = 1e6;

/**
 * Charges what a call has used in the end to the token limits that it was charged to before. What was reported beyond
 * that is charged even if nothing is left, so that later calls wait; what was not used is given back.
 */
export function settleTokens(
  { index, clock, installationLimits }: RateDeps,
  rates: readonly MetRate[],
  { reported, estimated, givenUp }: Pick<UsedTokens, "reported" | "estimated" | "givenUp">,
): void {
  const now = clock.monotonic() * NANOSECONDS;
  for (const rate of rates) {
    const { owner, limit, amount = 1, verdict } = rate;
    if (limit.unit === undefined) continue;
    const used = Math.max(Math.ceil(reported / limit.unit), Math.min(Math.ceil(estimated / limit.unit), amount));
    const more = used + givenUp * amount - amount;
    if (installationLimits !== null && limit.scope === "Installation") {
      // What a thread admits by itself, while the database is away, no cell has given.
      if (more > 0 || verdict.paidAt === 0) installationLimits.settle(drawnFrom(rate), more);
    } else if (more > 0) index.chargeUsed({ owner, limit, amount: more }, now);
    else index.refundRate(rate, -more * rateCost(limit), rate.at);
  }
}
