import { sql } from "kysely";
import type { Db } from "../database/change.ts";
import { LOCK_NOT_AVAILABLE, sqlState } from "../database/errors.ts";
import { preparedStatement } from "../database/prepared-statement.ts";
import { toDate } from "../database/times.ts";

/** Maximum number of lines that a statement writes. */
export const MAX_LINES = 100;

/** Milliseconds that a statement waits for a budget that another transaction has locked. */
const PATIENCE_MS = 150;

/** State of a budget in a period by one holder: always the full amounts, in whole parts of the budget's unit. */
export type LedgerLine = {
  readonly budget: string;
  readonly period: string;
  /** Milliseconds since the epoch; Infinity for a budget that never resets. */
  readonly endsAt: number;
  /** Number of the line, one more than the holder's last: a line that arrives late changes nothing. */
  readonly revision: number;
  readonly spent: number;
  /** Amount that the holder may use without asking, including what calls in progress have reserved. */
  readonly held: number;
  /** Amount that it asks for on top of that; 0 for nothing. */
  readonly wanted: number;
  /** Amount that all holders may use together. */
  readonly most: number;
};

/** Answer of the ledger to a line. */
export type LedgerAnswer = {
  /** Amount that is granted: as much as was wanted or more; 0 if the budget has less. */
  readonly granted: number;
  /** Amount of the budget that no holder has after that. */
  readonly rest: number;
  /** Amount that all holders have used. */
  readonly spent: number;
  /** Amount that is still held by holders that have not written for long. */
  readonly silent: number;
};

/**
 * Writes a holder's lines, and grants what they want as far as their budgets allow. Budgets that are not locked come
 * first, so that none of them is locked while others are waited for (threats b178, b210). Locked budgets are taken in
 * the order of their names, so that two replicas never wait for each other.
 *
 * @param lines at most {@link MAX_LINES}, each of another budget and period
 * @returns an answer to each line, in the order of the lines; null for a line that was not written, because another
 *   transaction has its budget locked
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
    for (const { place: position, ...answer } of await writeLines(db, holder, left, areWaitedFor)) {
      const line = left[position - 1];
      if (line !== undefined) answers.set(line, answer);
    }
  }
  return lines.map((line) => answers.get(line) ?? null);
}

/** Returns the SQL condition for the holder's own line of a budget that is asked for. */
const ownOf = (holder: string) => sql`(own.budget, own.period, own.holder) = (asked.budget, asked.period, ${holder})`;

/**
 * Writes lines in one statement.
 *
 * @param areWaitedFor true to wait for locked budgets; if that takes too long, no line is written. false to write
 *   only the lines of budgets that are not locked
 * @returns the answers, each with the position of its line, from 1 on
 */
async function writeLines(
  db: Db,
  holder: string,
  lines: readonly LedgerLine[],
  areWaitedFor: boolean,
): Promise<readonly (LedgerAnswer & { readonly place: number })[]> {
  const column = <C extends keyof LedgerLine>(name: C): LedgerLine[C][] => lines.map((line) => line[name]);
  const ends = lines.map(({ endsAt }) => toDate(Number.isFinite(endsAt) ? endsAt : null));
  // Each draw refers to the patience, so that the timeout is set before.
  const written = sql<LedgerAnswer & { place: number }>`${preparedStatement}
    with patience as materialized (select set_config('lock_timeout', ${String(PATIENCE_MS)}, true) as ms),
    asked as (
      select * from unnest(${column("budget")}::text[], ${column("period")}::text[], ${column("revision")}::bigint[],
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
