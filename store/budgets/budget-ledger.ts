import { sql } from "kysely";
import type { Db } from "../database/change.ts";
import { LOCK_NOT_AVAILABLE, sqlState } from "../database/errors.ts";
import { preparedStatement } from "../database/prepared-statement.ts";
import { toDate } from "../database/times.ts";

/** What one statement writes at most. */
export const MAX_LINES = 100;

/** So long a statement waits for a budget that another transaction has locked, in milliseconds. */
const PATIENCE_MS = 150;

/** What a holder says of a budget in a period, all of it as it is by now. Amounts are whole parts of its unit. */
export type LedgerLine = {
  readonly budget: string;
  readonly period: string;
  /** Milliseconds since the epoch; Infinity for a budget that never resets. */
  readonly endsAt: number;
  /** One more than the last: a line that comes late changes nothing. */
  readonly turn: number;
  readonly spent: number;
  /** What it may use without asking, what calls under way have reserved included. */
  readonly held: number;
  /** What it asks for on top of that; 0 for nothing. */
  readonly wanted: number;
  /** What all holders may use together. */
  readonly most: number;
};

/** What the ledger says to a line. */
export type LedgerAnswer = {
  /** As much as was wanted or more; 0 where there is less. */
  readonly granted: number;
  /** What no holder has then. */
  readonly rest: number;
  /** What all holders have used. */
  readonly spent: number;
  /** What holders that have not written for long still hold. */
  readonly silent: number;
};

/**
 * Writes a holder's lines, and grants what they want as far as their budgets have it: first of the budgets that are free,
 * so that nothing of them is locked while others are waited for (threats b178, b210). Those are taken in the order of
 * their names, so that two replicas never wait for each other.
 *
 * @param lines at most {@link MAX_LINES}, of one budget and period each
 * @returns an answer to each, in the order of the lines; null for one that was not written, since another transaction has
 *   its budget locked
 */
export async function writeLedger(
  db: Db,
  holder: string,
  lines: readonly LedgerLine[],
): Promise<readonly (LedgerAnswer | null)[]> {
  const answers = new Map<LedgerLine, LedgerAnswer>();
  for (const areWaitedFor of [false, true, false]) {
    const left = lines.filter((line) => !answers.has(line));
    if (left.length === 0) break;
    for (const { place, ...answer } of await writeLines(db, holder, left, areWaitedFor)) {
      const line = left[place - 1];
      if (line !== undefined) answers.set(line, answer);
    }
  }
  return lines.map((line) => answers.get(line) ?? null);
}

/** The holder's own line of a budget that is asked for, where there is one. */
const ownOf = (holder: string) => sql`(own.budget, own.period, own.holder) = (asked.budget, asked.period, ${holder})`;

/**
 * @param areWaitedFor whether budgets are waited for that are locked: none of the lines is written where that takes too
 *   long; else the lines of those that are free are written
 * @returns the answers, each with the place of its line, from 1 on
 */
async function writeLines(
  db: Db,
  holder: string,
  lines: readonly LedgerLine[],
  areWaitedFor: boolean,
): Promise<readonly (LedgerAnswer & { readonly place: number })[]> {
  const column = <C extends keyof LedgerLine>(name: C): LedgerLine[C][] => lines.map((line) => line[name]);
  const ends = lines.map(({ endsAt }) => toDate(Number.isFinite(endsAt) ? endsAt : null));
  // Each draw asks for the patience, so that it is set before.
  const written = sql<LedgerAnswer & { place: number }>`${preparedStatement}
    with patience as materialized (select set_config('lock_timeout', ${String(PATIENCE_MS)}, true) as ms),
    asked as (
      select * from unnest(${column("budget")}::text[], ${column("period")}::text[], ${column("turn")}::bigint[],
        ${column("spent")}::bigint[], ${column("held")}::bigint[], ${column("wanted")}::bigint[],
        ${column("most")}::bigint[], ${ends}::timestamptz[])
        with ordinality as line (budget, period, turn, spent, held, wanted, most, ends, place)
    ),
    line as materialized (
      select * from asked
      where ${areWaitedFor}::boolean or (
        pg_try_advisory_xact_lock(hashtextextended(budget || ' ' || period, 0))
        and (select count(*) from budget_ledger as own where ${ownOf(holder)}) = (
          select count(*) from (select from budget_ledger as own where ${ownOf(holder)} for update skip locked) as free)
      )
      order by budget, period
    )
    select place::int4, granted::float8, rest::float8, spent_by_all::float8 as spent, silent::float8
    from line cross join patience
    cross join lateral draw_budget(budget, period, case when ms <> '' then ${holder} end, turn, spent, held, wanted, most, ends)`;
  try {
    return (await written.execute(db)).rows;
  } catch (error) {
    if (sqlState(error) === LOCK_NOT_AVAILABLE) return [];
    throw error;
  }
}
