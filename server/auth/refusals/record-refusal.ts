import type { Clock } from "../../../runtime/clock.ts";
import type { KeyIndexView } from "../../key-index/key-index-view.ts";
import { type MetRate, refusingRate } from "../charge-rate.ts";
import type { AuthMetrics } from "../metrics.ts";
import type { Refused } from "../refused.ts";
import type { RefusalEvent, RefusalRecorder } from "./refusal-event.ts";

/** Parts that count and record refusals. */
export type RefusalDeps = {
  readonly clock: Pick<Clock, "now">;
  readonly index: Pick<KeyIndexView, "lastSeq">;
  readonly metrics: Pick<AuthMetrics, "countRefusal">;
  readonly refusals: RefusalRecorder;
};

/** Nanoseconds in a millisecond. */
const NANOSECONDS = 1e6;

/**
 * Counts a refusal by its cause, and passes it to the audit log.
 *
 * @param route the pattern that was matched
 */
export function recordRefusal(
  { clock, index, metrics, refusals }: RefusalDeps,
  client: RefusalEvent["client"],
  route: string | undefined,
  { code, cause, key, by }: Refused,
): void {
  const [at, membership] = [clock.now(), key?.membership];
  metrics.countRefusal(cause);
  refusals.record({
    client,
    at,
    code,
    cause,
    seq: index.lastSeq(),
    route,
    // A member's record has the place of a key, and is none.
    keyId: membership === undefined ? (key?.keyId ?? null) : null,
    teamId: key?.teamId ?? null,
    until: by.kind === "rate limit" ? tokensAvailableAt(by.rates, at) : undefined,
    principal: by.kind === "membership" ? by.actor : membership?.token.actor,
  });
}

/**
 * Returns when a limit of tokens that refuses a call has capacity for it, if nothing more is used until then; undefined
 * for any other limit.
 */
function tokensAvailableAt(rates: readonly MetRate[], now: number): number | undefined {
  const refusing = refusingRate(rates);
  if (refusing?.limit.unit === undefined) return undefined;
  return now + Math.ceil(refusing.verdict.retryAfter / NANOSECONDS);
}
