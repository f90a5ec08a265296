import type { KeyRecord } from "../../domain/access/key-record.ts";
import { LEASE_MS, type Lease } from "./lease.ts";
import type { StreamRegistry } from "./open-streams.ts";

/** How often open streams are looked through: for expiry, and for the end of the lease. */
export const SWEEP_MS = 200;

/** Cuts the open streams that nothing proves good: of keys that have ended, and all of them when the lease is about to. */
export function sweepStreams(
  streams: StreamRegistry,
  lease: Lease,
  findPresent: (record: KeyRecord) => KeyRecord | undefined,
): void {
  // A stream is an answer that goes on: like any other it ends when nothing proves its key good.
  if (lease.age() > LEASE_MS - SWEEP_MS) streams.cutAll("stale_index");
  else streams.sweep(findPresent, lease.now());
}
