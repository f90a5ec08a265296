import type { KeyRecord } from "../../domain/access/key-record.ts";
import type { StreamRegistry } from "../calls/open-streams.ts";
import type { Lease } from "./lease.ts";

/** Milliseconds between two decisions of open streams: for expiry, and for the end of the lease. */
export const REVALIDATION_INTERVAL_MS = 200;

/**
 * Cuts the open streams that nothing proves good: those of keys that have ended; all of them when the lease is about to
 * end, or has ended by a clock that jumped.
 */
export function revalidateStreams(
  streams: StreamRegistry,
  lease: Lease,
  findPresent: (record: KeyRecord) => KeyRecord | undefined,
): void {
  // A stream is an answer that goes on: like any other it ends when nothing proves its key good.
  if (!lease.holds() || lease.remaining() < REVALIDATION_INTERVAL_MS) streams.cutAll("stale_index");
  else streams.revalidate(findPresent, lease.now());
}
