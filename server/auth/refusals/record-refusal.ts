import type { FastifyRequest } from "fastify";
import type { Clock } from "../../../runtime/clock.ts";
import type { KeyIndexView } from "../../key-index/key-index-view.ts";
import type { Refused } from "../decide.ts";
import type { AuthMetrics } from "../metrics.ts";
import type { RefusalRecorder } from "./refusal-event.ts";

/** What counts and records refusals. */
export type RefusalDeps = {
  readonly clock: Pick<Clock, "now">;
  readonly index: Pick<KeyIndexView, "lastSeq">;
  readonly metrics: Pick<AuthMetrics, "countRefusal">;
  readonly refusals: RefusalRecorder;
};

/** Why a request is refused, with its key, and with its principal where one is known. */
type RecordedRefusal = Pick<Refused, "code" | "cause" | "key"> & { readonly principal?: string | undefined };

/**
 * Counts a refusal by its cause, and passes it to the audit log.
 *
 * @param route the pattern that was matched
 */
export function recordRefusal(
  { clock, index, metrics, refusals }: RefusalDeps,
  client: FastifyRequest,
  route: string | undefined,
  { code, cause, key, principal }: RecordedRefusal,
): void {
  const membership = key?.membership;
  metrics.countRefusal(cause);
  refusals.record({
    client,
    at: clock.now(),
    code,
    cause,
    seq: index.lastSeq(),
    route,
    // A member's record has the place of a key, and is none.
    keyId: membership === undefined ? (key?.keyId ?? null) : null,
    teamId: key?.teamId ?? null,
    principal: principal ?? membership?.token.actor,
  });
}
