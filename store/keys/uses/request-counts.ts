import { type RawBuilder, sql } from "kysely";
import type { Db } from "../../database/change.ts";
import { sqlState } from "../../database/errors.ts";
import type { Store } from "../../database/store.ts";
import { toDate, toMs } from "../../database/times.ts";

/** Number of requests with a key that a scope let through, within the five minutes that begin at `slot`. */
export type RequestCount = {
  readonly keyId: string;
  readonly scope: string;
  /** Milliseconds since the epoch. */
  readonly slot: number;
  readonly count: number;
};

/**
 * Adds to the counted requests, all or nothing. Rows are locked in one order, so that replicas do not deadlock.
 *
 * @param onBegun receives the transaction's id, by which {@link outcomeOf} tells its outcome
 */
export function addRequestCounts(
  store: Store,
  counts: readonly RequestCount[],
  onBegun: (transaction: string) => void,
): Promise<void> {
  return writeCounts(
    store,
    onBegun,
    sql`
      insert into key_requests (key_id, slot, scope, count)
      select key_id, to_timestamp(ms / 1000), scope, count
      from unnest(${counts.map(({ keyId }) => keyId)}::text[], ${counts.map(({ slot }) => slot)}::float8[],
        ${counts.map(({ scope }) => scope)}::text[], ${counts.map(({ count }) => count)}::int[])
        as counted (key_id, ms, scope, count)
      order by key_id, ms, scope
      on conflict (key_id, slot, scope) do update set count = key_requests.count + excluded.count`,
  );
}

/**
 * Adds counts by one statement.
 *
 * @param onBegun receives the transaction's id, by which {@link outcomeOf} tells its outcome
 */
export async function writeCounts(
  store: Store,
  onBegun: (transaction: string) => void,
  statement: RawBuilder<unknown>,
): Promise<void> {
  await store.backgroundDb.transaction().execute(async (tx) => {
    const { rows } = await sql<{ id: string }>`select pg_current_xact_id()::text as id`.execute(tx);
    for (const { id } of rows) onBegun(id);
    await statement.execute(tx);
  });
}

/** SQLSTATE for a transaction id that the database has not reached yet: it was restored to an earlier moment. */
const IN_THE_FUTURE = "22023";

/** Reads the outcome of a transaction whose end was not reported; `forgotten` if it is too long ago. */
export async function outcomeOf(
  db: Db,
  transaction: string,
): Promise<"committed" | "aborted" | "in progress" | "forgotten"> {
  try {
    const { rows } = await sql<{ status: "committed" | "aborted" | "in progress" | null }>`
      select pg_xact_status(${transaction}::text::xid8) as status`.execute(db);
    return rows[0]?.status ?? "forgotten";
  } catch (error) {
    if (sqlState(error) === IN_THE_FUTURE) return "aborted";
    throw error;
  }
}

/** Reads the request counts of a key since a moment, oldest first. */
export async function readRequestCounts(db: Db, keyId: string, since: number): Promise<RequestCount[]> {
  const rows = await db
    .selectFrom("key_requests")
    .select(["scope", "slot", "count"])
    .where("key_id", "=", keyId)
    .where("slot", ">=", toDate(since))
    .orderBy("slot")
    .orderBy("scope")
    .execute();
  return rows.map(({ scope, slot, count }) => ({ keyId, scope, slot: toMs(slot), count }));
}

/** Number of requests with a key, and the beginning of the first five minutes that have any. */
export type RequestSum = { readonly requests: number; readonly since: number };

/** Sums the requests of keys since a moment, in milliseconds since the epoch. Keys without requests are left out. */
export async function sumRequests(
  db: Db,
  keyIds: readonly string[],
  since: number,
): Promise<ReadonlyMap<string, RequestSum>> {
  const { rows } = await sql<{ keyId: string; requests: number; since: Date }>`
    select key_id as "keyId", sum(count)::float8 as requests, min(slot) as since from key_requests
    where key_id = any(${keyIds}::text[]) and slot >= ${toDate(since)} group by key_id`.execute(db);
  return new Map(rows.map(({ keyId, requests, since }) => [keyId, { requests, since: toMs(since) }]));
}
