import { type RawBuilder, sql } from "kysely";
import type { Tx } from "../database/change.ts";
import type { Store } from "../database/store.ts";
import {
  beginOf,
  DAY_STEP,
  HOUR_STEP,
  type Measure,
  OLDEST_DAY,
  OLDEST_HOUR,
  REQUESTS_MEASURE,
  TOKENS_MEASURE,
} from "./usage-tables.ts";

/** Maximum number of rows of a level in one round, so that it does not delay the next level. */
const MAX_ROWS = 2_000_000;
/** Ways to models (gateway, route and model) that are kept apart for a key in an hour or day: those of most answers. */
const MAX_WAYS = 64;
/** Model name for all other combinations. */
const OTHER_MODELS = "other";
/** Advisory lock with a number that no other lock has: one process rolls up at a time. */
const LOCK = 53_975_265;

/** Level of summing up: the tables it reads and writes, its step, and the times that it covers. */
type Level = {
  readonly measure: Measure;
  readonly from: string;
  readonly to: string;
  readonly step: RawBuilder<unknown>;
  /** First time that is not due yet: a period that has just ended may still get rows. */
  readonly end: RawBuilder<unknown>;
  /** Time before which existing sums are not made anew: rows of these periods may have been deleted. */
  readonly oldest: RawBuilder<unknown>;
  /** Team of a row `t`. */
  readonly teamId: RawBuilder<unknown>;
};

const HOURS_END = beginOf(HOUR_STEP, sql`clock_timestamp() - interval '10 minutes'`);
const DAYS_END = beginOf(DAY_STEP, sql`clock_timestamp() - interval '2 hours'`);
const OWN_TEAM = sql`t.team_id`;
/** Team of a key: it is the same for ever, and no key is ever deleted. */
const TEAM_OF_KEY = sql`coalesce((select k.team_id from keys k where k.id = t.key_id), '')`;

const LEVELS: readonly Level[] = [REQUESTS_MEASURE, TOKENS_MEASURE].flatMap((measure) => [
  {
    ...{ measure, from: measure.slots, to: measure.hours, step: HOUR_STEP, end: HOURS_END, oldest: OLDEST_HOUR },
    teamId: measure === REQUESTS_MEASURE ? TEAM_OF_KEY : OWN_TEAM,
  },
  {
    ...{ measure, from: measure.hours, to: measure.days, step: DAY_STEP, end: DAYS_END, oldest: OLDEST_DAY },
    teamId: OWN_TEAM,
  },
]);

/**
 * Sums up five minutes by hour, and hours by day, once these are over. If a row comes late or is added to later, its
 * key's hour and day are summed up anew, as long as all of their rows are kept. So everything counts once, however
 * often this runs and wherever it is interrupted. Does nothing while another process does this.
 *
 * @param signal ends it between two batches
 * @returns number of rows that were summed up
 */
export async function rollUp(store: Store, signal?: AbortSignal): Promise<number> {
  let sum = 0;
  for (const level of LEVELS) {
    for (const age of ["recent", "old"] as const) {
      for (let left = MAX_ROWS; left > 0 && signal?.aborted !== true; left -= store.backgroundRows) {
        const rolled = await rollUpBatch(store, level, age);
        sum += rolled;
        if (rolled < store.backgroundRows) break;
      }
    }
  }
  return sum;
}

/** Age of an hour or a day: `recent` if all its rows exist, `old` if rows that were summed up may have been deleted. */
type Age = "recent" | "old";

/** Sums up one batch of a level. The sums include the rows just marked: a later statement reads them. */
function rollUpBatch({ backgroundDb, backgroundRows }: Store, level: Level, age: Age): Promise<number> {
  return backgroundDb.transaction().execute(async (tx) => {
    const { rows } = await sql<{ isAlone: boolean }>`select pg_try_advisory_xact_lock(${LOCK}) as "isAlone"`.execute(
      tx,
    );
    if (rows[0]?.isAlone !== true) return 0;
    const marked = await markRows(tx, level, age, backgroundRows);
    const unsummed = age === "recent" ? marked : await withoutSum(tx, level, marked);
    if (unsummed.length > 0) await sumUp(tx, level, unsummed);
    return marked.reduce((sum, { count }) => sum + count, 0);
  });
}

/** Rows of one key in one hour or day. */
type Marked = { readonly keyId: string; readonly ms: number; readonly count: number };

async function markRows(tx: Tx, { from, step, end, oldest }: Level, age: Age, most: number): Promise<Marked[]> {
  const begin = beginOf(step, sql`slot`);
  const due = age === "recent" ? sql`${begin} >= ${oldest} and ${begin} < ${end}` : sql`${begin} < ${oldest}`;
  const { rows } = await sql<Marked>`
    with marked as (
      update ${sql.table(from)} set is_rolled = true where ctid = any(array(
        select ctid from ${sql.table(from)} where not is_rolled and ${due}
        order by ${begin}, key_id limit ${most} for update skip locked))
      returning key_id, ${begin} as begin)
    select key_id as "keyId", (extract(epoch from begin) * 1000)::float8 as ms, count(*)::int as count
    from marked group by key_id, begin`.execute(tx);
  return rows;
}

/**
 * Returns the old keys and periods without a sum: none of their rows has been summed up, and so none was deleted, as
 * after a long time without a server. Late rows of the others are left out.
 */
async function withoutSum(tx: Tx, { to }: Level, marked: readonly Marked[]): Promise<Marked[]> {
  if (marked.length === 0) return [];
  const { rows } = await sql<{ place: number }>`
    select p.place::int from ${periodsOf(marked)}
    where exists (select from ${sql.table(to)} o where o.key_id = p.key_id and o.slot = p.begin)`.execute(tx);
  const summed = new Set(rows.map(({ place }) => place - 1));
  return marked.filter((_, place) => !summed.has(place));
}

/** Returns SQL for a table `p` of keys and periods, with their positions from 1 on. */
function periodsOf(marked: readonly Marked[]): RawBuilder<unknown> {
  return sql`(select key_id, to_timestamp(ms / 1000) as begin, place
    from unnest(${marked.map(({ keyId }) => keyId)}::text[], ${marked.map(({ ms }) => ms)}::float8[])
      with ordinality given (key_id, ms, place)) p`;
}

/** Replaces the sums of these keys and periods by the present sums of their rows. */
async function sumUp(tx: Tx, { measure, from, to, step, teamId }: Level, marked: readonly Marked[]): Promise<void> {
  const periods = periodsOf(marked);
  await sql`delete from ${sql.table(to)} o using ${periods} where o.key_id = p.key_id and o.slot = p.begin`.execute(tx);
  const dimensions = sql.join(measure.dimensions.map((name) => sql.ref(name)));
  const figures = sql.join(measure.figures.map((name) => sql.ref(name)));
  const sums = sql.join(measure.figures.map((name) => sql`sum(${sql.ref(name)})::bigint as ${sql.ref(name)}`));
  const summed = sql`
    select t.key_id, p.begin, ${dimensions}, max(${teamId}) as team_id, ${sums}
    from ${periods} join ${sql.table(from)} t on t.key_id = p.key_id and t.slot >= p.begin and t.slot < p.begin + ${step}
    group by t.key_id, p.begin, ${dimensions}`;
  const rows =
    measure !== TOKENS_MEASURE
      ? sql`select key_id, begin, ${dimensions}, team_id, ${figures} from (${summed}) all_rows`
      : sql`select key_id, begin, gateway_id, route_id, case when place <= ${MAX_WAYS} then model else ${OTHER_MODELS} end,
          max(team_id), ${sums}
        from (select *, row_number() over (
            partition by key_id, begin order by calls desc, gateway_id, route_id, model) as place
          from (${summed}) all_rows) ranked
        group by 1, 2, 3, 4, 5`;
  await sql`insert into ${sql.table(to)} (key_id, slot, ${dimensions}, team_id, ${figures}) ${rows}`.execute(tx);
}
