import { type RawBuilder, sql } from "kysely";
import type { Store } from "./database/store.ts";
import { ENDED_OBJECTS } from "./gateways/kept-objects.ts";
import { ENDED_VERSION_STATES } from "./keys/rows/key-records.ts";
import { pruneLibraries } from "./keys/uses/key-libraries.ts";
import { pruneNetworks } from "./keys/uses/key-networks.ts";
import { HOURS_KEPT, REQUESTS_MEASURE, SLOTS_KEPT, TOKENS_MEASURE } from "./usage/usage-tables.ts";

/** Milliseconds between two rounds of one process. */
export const PRUNE_INTERVAL_MS = 10 * 60_000;

/** Number of changes that are kept. A reader of the feed that is further behind takes a snapshot. */
const CHANGES_KEPT = 100_000;
/** Time after which a delivery is useless. If a receiver never answers, more may wait than ever get ten attempts. */
const DELIVERIES_WAIT = sql`interval '30 days'`;
/** Time for which a repeated conversation is recognised. */
const CONVERSATIONS_KEPT = sql`interval '30 days'`;
/** Condition for positions that are deleted from the audit log's feed: the first ones, if their events are gone. */
const FORGOTTEN_POSITIONS = sql`where seq in (select seq from audit_feed order by seq limit 1000)
  and not exists (select from audit_events e where e.id = o.event_id)`;
/** Maximum number of rows of a table that a round deletes, so that it does not delay the next table. */
const MAX_ROWS = 100_000;
/**
 * Maximum number of counts that a round deletes. They are the most numerous rows: as many as 100,000 keys in use add
 * between two rounds.
 */
const MAX_COUNTS = 1_000_000;

/** Numbers of rows that a round has deleted. */
type Pruned = {
  readonly auditEvents: number;
  /** Positions of audit events in their feed. */
  readonly auditPlaces: number;
  readonly uses: number;
  /** Counts of requests by five minutes. */
  readonly requests: number;
  /** Counts of tokens by five minutes. */
  readonly tokens: number;
  /** Counts of both by hour. */
  readonly hours: number;
  /** Keys of which networks of callers were deleted. */
  readonly networks: number;
  /** Keys of which used libraries were deleted. */
  readonly libraries: number;
  readonly deliveries: number;
  readonly creations: number;
  /** Records of the memory's saves that could be repeated. */
  readonly saves: number;
  /** Cells of limits of the installation that owe nothing. */
  readonly limits: number;
  /** Lines and notices of budgets whose period is over. */
  readonly budgets: number;
  /** Conversations that were handed over, with their results. */
  readonly conversations: number;
  /** Sessions, links and logout tokens. */
  readonly signIns: number;
  /** Owners of responses and conversations that upstreams keep no more. */
  readonly keptObjects: number;
  readonly changes: number;
};

/**
 * Deletes rows whose time is over, in batches, oldest first.
 *
 * After the retention: audit events, uses of ended versions, webhook deliveries that are over or too old to be sent,
 * and the state of budgets in past periods. After times of their own: counts of requests and tokens by five minutes and
 * by hour, once they are summed up; networks of callers and libraries that keys used; conversations after 30 days;
 * repeatable creations and saves after a day; cells of limits that owe nothing after a minute; sessions, one-time links,
 * logout tokens and owners of what upstreams keep after their end. Of the changes, the latest are kept.
 *
 * Any number of processes may prune at once: each skips the rows that another is deleting. A key, its versions and
 * their digests stay: a revoked secret is known for ever.
 *
 * @param signal ends the pruning between two batches
 */
export async function prune(store: Store, retentionMs: number, signal?: AbortSignal): Promise<Pruned> {
  const before = sql`clock_timestamp() - ${retentionMs}::float8 * interval '1 millisecond'`;
  // A count that is in no sum yet stays until it is.
  const oldCounts = sql`where is_rolled and slot < clock_timestamp() - ${SLOTS_KEPT} order by slot`;
  const oldHours = sql`where is_rolled and slot < clock_timestamp() - ${HOURS_KEPT} order by slot`;
  const oldDeliveries = sql`where at < ${before}
    and (state <> 'pending' or at < clock_timestamp() - ${DELIVERIES_WAIT}) order by at`;
  const oldConversations = sql`where created_at < clock_timestamp() - ${CONVERSATIONS_KEPT} order by created_at`;
  const dayOld = sql`where made_at < clock_timestamp() - interval '24 hours' order by made_at`;
  const paidLimits = sql`where greatest(paid_at, drawn_at) / 1000000 < extract(epoch from clock_timestamp()) - 60`;
  const all = (table: string, which: RawBuilder<unknown>) => pruneAll(store, table, which, signal);
  const expired = (table: string) => all(table, sql`where expires_at < clock_timestamp()`);
  return {
    auditEvents: await all("audit_events", sql`where at < ${before} order by at`),
    auditPlaces: await all("audit_feed", FORGOTTEN_POSITIONS),
    uses: await all(
      "key_usage",
      sql`where last_used_at < ${before} and not exists (
        select from key_versions v where v.key_id = o.key_id and v.number = o.version
          and v.state <> all(${ENDED_VERSION_STATES}::text[]))`,
    ),
    requests: await pruneAll(store, "key_requests", oldCounts, signal, MAX_COUNTS),
    tokens: await pruneAll(store, "key_tokens", oldCounts, signal, MAX_COUNTS),
    hours:
      (await pruneAll(store, REQUESTS_MEASURE.hours, oldHours, signal, MAX_COUNTS)) +
      (await pruneAll(store, TOKENS_MEASURE.hours, oldHours, signal, MAX_COUNTS)),
    networks: await pruneRepeatedly(store, (most) => pruneNetworks(store, most), signal),
    libraries: await pruneRepeatedly(store, (most) => pruneLibraries(store, most), signal),
    deliveries: await all("webhook_deliveries", oldDeliveries),
    creations: await all("idempotency_keys", dayOld),
    saves: await all("repeatable_saves", dayOld),
    limits: await all("limit_cells", paidLimits),
    budgets:
      (await all("budget_ledger", sql`where ends_at < ${before} order by ends_at`)) +
      (await all("budget_notices", sql`where ends_at < ${before} order by ends_at`)),
    conversations: await all("extraction_jobs", oldConversations),
    signIns: (await expired("sessions")) + (await expired("sign_in_links")) + (await expired("logout_tokens")),
    keptObjects: (await all("kept_objects", ENDED_OBJECTS.inside)) + (await all("kept_objects", ENDED_OBJECTS.outside)),
    changes: await pruneChanges(store, CHANGES_KEPT, signal),
  };
}

/**
 * Deletes requests and tokens by day.
 *
 * @param retentionMs milliseconds that they are kept
 * @param signal ends it between two batches
 * @returns number of deleted rows
 */
export async function pruneUsage(store: Store, retentionMs: number, signal?: AbortSignal): Promise<number> {
  const old = sql`where slot < clock_timestamp() - ${retentionMs}::float8 * interval '1 millisecond' order by slot`;
  const requests = await pruneAll(store, REQUESTS_MEASURE.days, old, signal, MAX_COUNTS);
  return requests + (await pruneAll(store, TOKENS_MEASURE.days, old, signal, MAX_COUNTS));
}

/** Deletes old changes. A reader that still needs one of them takes a new snapshot. */
export async function pruneChanges(store: Store, keep: number, signal?: AbortSignal): Promise<number> {
  return pruneAll(store, "changes", sql`where seq <= (select head from feed) - ${keep}::bigint order by seq`, signal);
}

function pruneAll(
  store: Store,
  table: string,
  which: RawBuilder<unknown>,
  signal: AbortSignal | undefined,
  mostInAll = MAX_ROWS,
): Promise<number> {
  return pruneRepeatedly(store, (most) => pruneBatch(store, table, which, most), signal, mostInAll);
}

/** @param pruneSome deletes at most `most` rows, and returns how many it has deleted: fewer if there are no more */
async function pruneRepeatedly(
  { backgroundRows }: Store,
  pruneSome: (most: number) => Promise<number>,
  signal: AbortSignal | undefined,
  mostInAll = MAX_ROWS,
): Promise<number> {
  let sum = 0;
  while (sum < mostInAll && signal?.aborted !== true) {
    const deleted = await pruneSome(backgroundRows);
    sum += deleted;
    if (deleted < backgroundRows) break;
  }
  return sum;
}

/** Deletes a batch by the rows' physical locations, which cannot change as long as the rows are locked. */
async function pruneBatch(
  { backgroundDb }: Store,
  table: string,
  which: RawBuilder<unknown>,
  most: number,
): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    delete from ${sql.table(table)} where ctid = any(array(
      select ctid from ${sql.table(table)} o ${which} limit ${most} for update of o skip locked))`.execute(
    backgroundDb,
  );
  return Number(numAffectedRows);
}
