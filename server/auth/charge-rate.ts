import type { KeyRecord } from "../../domain/access/key-record.ts";
import type { RateVerdict } from "../../domain/access/rate-limit.ts";
import type { Clock } from "../../runtime/clock.ts";
import { CALL_LIMITS } from "../calls/open-streams.ts";
import type { KeyIndexView } from "../key-index/key-index-view.ts";
import type { InstallationLimits } from "../limits/installation-limits.ts";

/** What counts the requests of keys. */
export type RateDeps = {
  readonly index: Pick<KeyIndexView, "chargeRequest">;
  readonly clock: Pick<Clock, "monotonic">;
  /** Null where there is one replica alone, whose own count is the installation's. */
  readonly installationLimits: Pick<InstallationLimits, "charge"> | null;
};

/** In a millisecond. */
const NANOSECONDS = 1e6;

/**
 * Judges a request by its key's rate limit, and charges it where it is admitted; undefined for a key without one. A
 * limit of the installation may have to be asked for.
 */
export function chargeRate(
  { index, clock, installationLimits }: RateDeps,
  key: KeyRecord,
): RateVerdict | undefined | Promise<RateVerdict> {
  const { rateLimit } = key;
  if (rateLimit === null) return undefined;
  if (rateLimit.scope === "Installation" && installationLimits !== null) {
    return installationLimits.charge(key.keyId, rateLimit, key.concurrent ?? CALL_LIMITS.callsPerKey);
  }
  return index.chargeRequest(key, clock.monotonic() * NANOSECONDS);
}
