/** What a replica and a process that waits for it have to agree on: the same in every process of an installation. */

/**
 * The longest that a replica decides without having asked the database for the feed's head (architecture §3), unless it
 * was started with another lease.
 */
export const LEASE_MS = 5_000;

/** Which leases a replica may be started with. */
export const LEASE_RANGE_MS = { least: 3_000, most: 60_000 } as const;

/** How much longer than its lease a replica is taken to serve: clocks do not run alike. */
export const LEASE_MARGIN_MS = 1_000;

/** How often a replica writes the uses that it has noted: nothing is learned of them in between. */
export const USAGE_FLUSH_MS = 10_000;

/** How long the audit log is kept by default: 90 days. */
export const DEFAULT_RETENTION_MS = 90 * 24 * 3_600_000;
