import { type RawBuilder, sql } from "kysely";
import type { Db } from "../../database/change.ts";
import type { Store } from "../../database/store.ts";
import { LOST_USES_UNTIL } from "./lost-uses.ts";

/** Number of days for which notes are kept. */
export const NOTES_KEPT_DAYS = 40;
const OLDEST = sql`(clock_timestamp() at time zone 'UTC')::date - ${sql.lit(NOTES_KEPT_DAYS)}`;

/** Kind of note that is kept of keys by the day: the networks they were called from, or the libraries they used. */
export type NotesOf = {
  /** Table with one row for each key, which holds each noted network or library with the last day it was noted. */
  readonly table: "key_networks" | "key_libraries_used";
  /** Table with the time since which these notes are kept. */
  readonly known: "networks_known" | "libraries_known";
  /** Maximum number of notes that are kept of a key: the latest. */
  readonly most: number;
  /** Note that is kept beside these. */
  readonly besides?: string;
};

/** Note of a key on a day, such as `2026-11-25`. */
export type DailyNote = { readonly keyId: string; readonly what: string; readonly day: string };

/**
 * Adds notes, as one batch in one statement, and keeps the latest of each key. Rows are locked in one order, so that
 * replicas do not deadlock. Writes nothing if all is known already.
 */
export async function recordNotes(
  store: Store,
  { table, most, besides = "" }: NotesOf,
  noted: readonly DailyNote[],
): Promise<void> {
  if (noted.length === 0) return;
  const kept = sql.table(table);
  const place = sql`row_number() over (partition by key_id order by what = ${besides}, day desc, what) as place`;
  const isKept = sql`(place <= ${most} or what = ${besides})`;
  await sql`
    with noted as (
      select key_id, what, max(day) as day from unnest(${noted.map(({ keyId }) => keyId)}::text[],
        ${noted.map(({ what }) => what)}::text[], ${noted.map(({ day }) => day)}::text[]) as n (key_id, what, day)
      group by key_id, what
    ), placed as (
      select noted.*, ${place} from noted
    ), added as (
      select key_id, ${SEEN} from placed where ${isKept} group by key_id
    )
    insert into ${kept} as stored (key_id, seen, oldest)
    select a.key_id, a.seen, a.oldest from added a
    where not exists (select from ${kept} n where n.key_id = a.key_id and n.seen @> a.seen)
    order by a.key_id
    on conflict (key_id) do update set (seen, oldest) = (
      select ${SEEN} from (
        select e.*, ${place} from (
          select stored.key_id, what, max(day) as day
          from (select * from jsonb_each_text(stored.seen) union all select * from jsonb_each_text(excluded.seen))
            as e (what, day)
          group by what
        ) e
      ) kept where ${isKept})`.execute(store.backgroundDb);
}

const SEEN: RawBuilder<unknown> = sql`jsonb_object_agg(what, day) as seen, min(day::date) as oldest`;

/** Reads the notes of keys of the last {@link NOTES_KEPT_DAYS} days, the latest first. */
export async function readNotes(db: Db, { table }: NotesOf, keyIds: readonly string[]): Promise<readonly DailyNote[]> {
  if (keyIds.length === 0) return [];
  const { rows } = await sql<DailyNote>`
    select key_id as "keyId", what, day
    from ${sql.table(table)}, jsonb_each_text(seen) as e (what, day)
    where key_id = any(${keyIds}::text[]) and day::date >= ${OLDEST}
    order by day desc, what`.execute(db);
  return rows;
}

/** Reads the time since which these notes are complete, in milliseconds since the epoch. */
export async function notesKnownSince(db: Db, { known }: NotesOf): Promise<number> {
  const { rows } = await sql<{ since: number }>`
    select (extract(epoch from greatest(since, ${LOST_USES_UNTIL})) * 1000)::float8 as since
    from ${sql.table(known)}`.execute(db);
  return rows[0]?.since ?? Number.POSITIVE_INFINITY;
}

/**
 * Deletes notes after {@link NOTES_KEPT_DAYS}.
 *
 * @param most maximum number of keys at once
 * @returns number of keys that had such notes
 */
export async function pruneNotes({ backgroundDb }: Store, { table }: NotesOf, most: number): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    with old as (
      select key_id, seen from ${sql.table(table)} where oldest < ${OLDEST} order by oldest limit ${most}
      for update skip locked
    ), kept as (
      select key_id, ${SEEN} from old, jsonb_each_text(old.seen) as e (what, day)
      where day::date >= ${OLDEST} group by key_id
    ), trimmed as (
      update ${sql.table(table)} n set seen = kept.seen, oldest = kept.oldest from kept where n.key_id = kept.key_id
    ), gone as (
      delete from ${sql.table(table)} n using old where n.key_id = old.key_id
        and not exists (select from kept where kept.key_id = old.key_id)
    )
    select count(*)::int as count from old`.execute(backgroundDb);
  return rows[0]?.count ?? 0;
}
