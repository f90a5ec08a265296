import { type RawBuilder, sql } from "kysely";
import { type CallerNetwork, MAX_CALLER_NETWORKS } from "../../domain/access/caller-network.ts";
import type { Db } from "../database/change.ts";
import type { Store } from "../database/store.ts";

/** How long it is kept that a key was called from a network, in days. */
export const NETWORKS_KEPT_DAYS = 40;
const OLDEST = sql`(clock_timestamp() at time zone 'UTC')::date - ${sql.lit(NETWORKS_KEPT_DAYS)}`;

/** That a key was called from a network on a day, as `2026-11-25`. */
export type NotedNetwork = { readonly keyId: string; readonly network: string; readonly day: string };

/**
 * Adds networks, as one batch in one statement, and keeps the last ones of each key. Rows are taken in one order, so
 * that replicas do not deadlock; where all is known already nothing is written.
 */
export async function recordNetworks(store: Store, noted: readonly NotedNetwork[]): Promise<void> {
  if (noted.length === 0) return;
  await sql`
    with noted as (
      select key_id, network, max(day) as day from unnest(${noted.map(({ keyId }) => keyId)}::text[],
        ${noted.map(({ network }) => network)}::text[], ${noted.map(({ day }) => day)}::text[]) as n (key_id, network, day)
      group by key_id, network
    ), placed as (
      select noted.*, row_number() over (partition by key_id order by day desc, network) as place from noted
    ), added as (
      select key_id, ${SEEN} from placed where place <= ${MAX_CALLER_NETWORKS} group by key_id
    )
    insert into key_networks (key_id, seen, oldest)
    select a.key_id, a.seen, a.oldest from added a
    where not exists (select from key_networks n where n.key_id = a.key_id and n.seen @> a.seen)
    order by a.key_id
    on conflict (key_id) do update set (seen, oldest) = (
      select ${SEEN} from (
        select network, max(day) as day
        from (select * from jsonb_each_text(key_networks.seen) union all select * from jsonb_each_text(excluded.seen))
          as e (network, day)
        group by network order by max(day) desc, network limit ${MAX_CALLER_NETWORKS}
      ) kept)`.execute(store.db);
}

const SEEN: RawBuilder<unknown> = sql`jsonb_object_agg(network, day) as seen, min(day::date) as oldest`;

/** The networks that keys were called from within what is kept, by the key's id: the last first. */
export async function readNetworks(db: Db, keyIds: readonly string[]): Promise<ReadonlyMap<string, CallerNetwork[]>> {
  if (keyIds.length === 0) return new Map();
  const { rows } = await sql<CallerNetwork & { keyId: string }>`
    select key_id as "keyId", network, day as "lastSeenOn"
    from key_networks, jsonb_each_text(seen) as e (network, day)
    where key_id = any(${keyIds}::text[]) and day::date >= ${OLDEST}
    order by day desc, network`.execute(db);
  return new Map(
    [...Map.groupBy(rows, ({ keyId }) => keyId)].map(([keyId, callers]) => [
      keyId,
      callers.map(({ network, lastSeenOn }) => ({ network, lastSeenOn })),
    ]),
  );
}

/**
 * Since when every server has noted the networks, in milliseconds since the epoch; null while one of an earlier build
 * serves.
 */
export async function networksKnownSince(db: Db): Promise<number | null> {
  const { rows } = await sql<{ since: number | null }>`
    select case when not exists (select from replicas where not notes_networks)
      then (extract(epoch from since) * 1000)::float8 end as since from networks_known`.execute(db);
  return rows[0]?.since ?? null;
}

/**
 * Forgets networks after {@link NETWORKS_KEPT_DAYS}.
 *
 * @param most how many keys at once
 * @returns how many keys had some
 */
export async function pruneNetworks({ db }: Store, most: number): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    with old as (
      select key_id, seen from key_networks where oldest < ${OLDEST} order by oldest limit ${most} for update skip locked
    ), kept as (
      select key_id, ${SEEN} from old, jsonb_each_text(old.seen) as e (network, day)
      where day::date >= ${OLDEST} group by key_id
    ), trimmed as (
      update key_networks n set seen = kept.seen, oldest = kept.oldest from kept where n.key_id = kept.key_id
    ), gone as (
      delete from key_networks n using old where n.key_id = old.key_id
        and not exists (select from kept where kept.key_id = old.key_id)
    )
    select count(*)::int as count from old`.execute(db);
  return rows[0]?.count ?? 0;
}
