/** Constants that a replica and a process that waits for it must agree on: the same throughout an installation. */

/**
 * Maximum time for which a replica decides without having asked the database for the feed's head (architecture §3),
 * unless it was started with another lease. Milliseconds.
 */
export const LEASE_MS = 5_000;

/** Range of leases that a replica may be started with. Milliseconds. */
export const LEASE_RANGE_MS = { least: 3_000, most: 60_000 } as const;

/** Milliseconds that a replica is assumed to serve beyond its lease, because clocks do not run alike. */
export const LEASE_MARGIN_MS = 1_000;

/** Milliseconds between two writes of the uses that a replica has recorded; in between they are unknown elsewhere. */
export const USAGE_FLUSH_MS = 10_000;

/** Default retention of the audit log: 90 days, in milliseconds. */
export const DEFAULT_RETENTION_MS = 90 * 24 * 3_600_000;
