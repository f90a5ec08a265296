import { type RawBuilder, sql } from "kysely";
import type { Store } from "./database/store.ts";
import { ENDED_VERSION_STATES } from "./keys/rows/key-records.ts";
import { pruneLibraries } from "./keys/uses/key-libraries.ts";
import { pruneNetworks } from "./keys/uses/key-networks.ts";
import { HOURS_KEPT, REQUESTS_MEASURE, SLOTS_KEPT, TOKENS_MEASURE } from "./usage/usage-tables.ts";

/** Time between two rounds of one process. */
export const PRUNE_INTERVAL_MS = 10 * 60_000;

/** A reader of the feed that is further behind takes a snapshot. */
const CHANGES_KEPT = 100_000;
/** A delivery is of no use so late. Where a receiver never answers, more may wait than ever get their ten tries. */
const DELIVERIES_WAIT = sql`interval '30 days'`;
/** For so long the same conversation is known again. */
const CONVERSATIONS_KEPT = sql`interval '30 days'`;
/** Of the audit log's feed: the first ones, as far as their events are gone. */
const FORGOTTEN_PLACES = sql`where seq in (select seq from audit_feed order by seq limit 1000)
  and not exists (select from audit_events e where e.id = o.event_id)`;
/** Of a table in one round, so that none holds up the next one. */
const MAX_ROWS = 100_000;
/** Of counts there are more than of anything else: as many as 100,000 keys in use come to between two rounds. */
const MAX_COUNTS = 1_000_000;

/** What a round has forgotten, in rows. */
type Pruned = {
  readonly auditEvents: number;
  /** Places of them in their feed. */
  readonly auditPlaces: number;
  readonly uses: number;
  /** Counts of requests by five minutes. */
  readonly requests: number;
  /** Counts of tokens by five minutes. */
  readonly tokens: number;
  /** Counts of both by hour. */
  readonly hours: number;
  /** Keys of which networks were forgotten that they were called from. */
  readonly networks: number;
  /** Keys of which libraries were forgotten that they used. */
  readonly libraries: number;
  readonly deliveries: number;
  readonly creations: number;
  /** Saves of the memory that could be repeated. */
  readonly saves: number;
  /** Cells of limits of the installation that owe nothing. */
  readonly limits: number;
  /** Lines and notices of budgets whose period is over. */
  readonly budgets: number;
  /** Conversations that were handed over, with what came of them. */
  readonly conversations: number;
  /** Sessions, links and logout tokens. */
  readonly signIns: number;
  readonly changes: number;
};

/**
 * Deletes what is over, in batches, oldest first. Audit events, uses of ended versions, and webhook deliveries that are
 * over or too old to be sent, and what budgets had in periods that are over, go after the retention; counts of requests
 * and tokens by five minutes and by hour go after theirs, once they are summed up, networks of callers and libraries that
 * keys used after theirs, conversations after 30 days, repeatable creations and saves after a day, cells of limits that owe
 * nothing after a minute, and sessions, one-time links and logout tokens after their end. Of the changes the latest are
 * kept. Any number of processes may prune at once: each skips the rows that another is deleting. A key, its versions and
 * their digests stay: a revoked secret is known for ever.
 *
 * @param signal ends it between two batches
 */
export async function prune(store: Store, retentionMs: number, signal?: AbortSignal): Promise<Pruned> {
  const before = sql`clock_timestamp() - ${retentionMs}::float8 * interval '1 millisecond'`;
  // What no sum has yet stays until one has it.
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
    auditPlaces: await all("audit_feed", FORGOTTEN_PLACES),
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
    changes: await pruneChanges(store, CHANGES_KEPT, signal),
  };
}

/**
 * Deletes requests and tokens by day.
 *
 * @param retentionMs how long they are kept
 * @param signal ends it between two batches
 * @returns how many rows went
 */
export async function pruneUsage(store: Store, retentionMs: number, signal?: AbortSignal): Promise<number> {
  const old = sql`where slot < clock_timestamp() - ${retentionMs}::float8 * interval '1 millisecond' order by slot`;
  const requests = await pruneAll(store, REQUESTS_MEASURE.days, old, signal, MAX_COUNTS);
  return requests + (await pruneAll(store, TOKENS_MEASURE.days, old, signal, MAX_COUNTS));
}

/** Forgets old changes. A reader that still wanted one of them takes a new snapshot. */
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

/** @param pruneSome deletes so many at most, and gives how many it has deleted: fewer where there are no more */
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

/** By the rows' places, which stay theirs as long as they are locked. */
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
