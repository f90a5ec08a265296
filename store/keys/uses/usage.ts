import { type RawBuilder, sql } from "kysely";
import type { KnownUsage, LastUse } from "../../../domain/key/stored/known-usage.ts";
import type { Db } from "../../database/change.ts";
import type { Store } from "../../database/store.ts";
import { LOST_USES_UNTIL } from "./lost-uses.ts";

/** Last use of one version of a key, as one replica saw it. */
type RecordedUse = {
  readonly keyId: string;
  readonly version: number;
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** Address and user agent of the caller, for a person who looks for the last users of an old version. */
  readonly address?: string;
  readonly userAgent?: string;
};

/**
 * Records uses, as one batch in two statements. The latest use of all replicas stands. Rows are locked in one order, so
 * that replicas do not deadlock. Nothing of it reaches the change feed.
 */
export async function recordUsage(store: Store, uses: readonly RecordedUse[]): Promise<void> {
  if (uses.length === 0) return;
  await sql`
    insert into key_usage (key_id, version, last_used_at, last_address, last_user_agent)
    select distinct on (key_id, version) key_id, version, to_timestamp(ms / 1000), address, user_agent
    from unnest(${uses.map(({ keyId }) => keyId)}::text[], ${uses.map(({ version }) => version)}::int[],
      ${uses.map(({ at }) => at)}::float8[], ${uses.map(({ address }) => address ?? null)}::text[],
      ${uses.map(({ userAgent }) => userAgent ?? null)}::text[]) as used (key_id, version, ms, address, user_agent)
    order by key_id, version, ms desc
    on conflict (key_id, version) do update set last_used_at = excluded.last_used_at,
      last_address = coalesce(excluded.last_address, key_usage.last_address),
      last_user_agent = coalesce(excluded.last_user_agent, key_usage.last_user_agent)
    where key_usage.last_used_at < excluded.last_used_at`.execute(store.backgroundDb);
  // For lists in the order of use, to five minutes: most of the time there is nothing to write.
  await sql`
    insert into key_last_uses (key_id, team_id, used_at)
    select k.id, k.team_id, used.at from (
      select key_id, date_bin('5 minutes', to_timestamp(max(ms) / 1000), timestamptz 'epoch') as at
      from unnest(${uses.map(({ keyId }) => keyId)}::text[], ${uses.map(({ at }) => at)}::float8[]) as used (key_id, ms)
      group by key_id
    ) used join keys k on k.id = used.key_id
    where not exists (select from key_last_uses l where l.key_id = k.id and l.used_at >= used.at)
    order by k.id
    on conflict (key_id) do update set used_at = excluded.used_at
    where key_last_uses.used_at < excluded.used_at`.execute(store.backgroundDb);
}

/**
 * Records that a replica's uses are written.
 *
 * @param until by the database's clock, in milliseconds since the epoch: every use before it was recorded first
 */
export async function markUsageWritten(store: Store, replicaId: string, until: number): Promise<void> {
  await sql`update replicas set usage_flushed_at = to_timestamp(${until}::float8 / 1000)
    where id = ${replicaId}`.execute(store.db);
}

/**
 * Reads what is known of the uses of a key's versions. One statement, so that every use before its `knownUntil` is in
 * it.
 */
export async function readKnownUsage(db: Db, keyId: string): Promise<KnownUsage> {
  const { rows } = await sql<Omit<KnownUsage, "lastUses"> & LastUse>`
    with known as (
      select ${ms(sql`clock_timestamp()`)} as now,
        ${ms(sql`case count(*) when 0 then clock_timestamp() when count(usage_flushed_at) then min(usage_flushed_at) end`)}
          as "knownUntil",
        ${ms(LOST_USES_UNTIL)} as "lostUntil"
      from replicas
    )
    select known.*, version, ${ms(sql`last_used_at`)} as at, last_address as address, last_user_agent as "userAgent"
    from known left join key_usage on key_id = ${keyId}
    order by version desc`.execute(db);
  const [first] = rows;
  if (first === undefined) throw new Error("an aggregate without a row");
  const { now, knownUntil, lostUntil } = first;
  const lastUses = rows
    .filter((row) => row.version !== null)
    .map(({ version, at, address, userAgent }) => ({ version, at, address, userAgent }));
  return { now, knownUntil, lostUntil, lastUses };
}

function ms(time: RawBuilder<unknown>): RawBuilder<number> {
  return sql`(extract(epoch from ${time}) * 1000)::float8`;
}
