import { sql } from "kysely";
import type { Db } from "../database/change.ts";
import { sqlState } from "../database/errors.ts";
import { preparedStatement } from "../database/prepared-statement.ts";
import { toDate } from "../database/times.ts";

/** What one statement writes at most. */
export const MAX_LINES = 100;

/**
 * A statement waits so long for a budget that another transaction has locked, and then each of its lines by itself: what
 * it has locked meanwhile is other budgets' (threats b178). Milliseconds.
 */
const PATIENCE_MS = 150;
const PATIENCE_ALONE_MS = 10;

/** What a holder says of a budget in a period, all of it as it is by now. Amounts are whole parts of its unit. */
export type LedgerLine = {
  readonly budget: string;
  readonly period: string;
  /** Milliseconds since the epoch; Infinity for a budget that never begins anew. */
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
 * Writes a holder's lines, and grants what they want as far as their budgets have it. Budgets are taken in the order of
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
  const together = await writeInTime(db, holder, lines, PATIENCE_MS);
  if (together !== null) return together;
  const answers: (LedgerAnswer | null)[] = [];
  for (const line of lines) {
    const [answer = null] = (await writeInTime(db, holder, [line], PATIENCE_ALONE_MS)) ?? [];
    answers.push(answer);
  }
  return answers;
}

/** Null where one of the budgets is locked for longer: then none of the lines is written. */
async function writeInTime(
  db: Db,
  holder: string,
  lines: readonly LedgerLine[],
  patienceMs: number,
): Promise<readonly LedgerAnswer[] | null> {
  try {
    return await writeLines(db, holder, lines, patienceMs);
  } catch (error) {
    if (sqlState(error) === LOCK_NOT_AVAILABLE) return null;
    throw error;
  }
}

const LOCK_NOT_AVAILABLE = "55P03";

async function writeLines(
  db: Db,
  holder: string,
  lines: readonly LedgerLine[],
  patienceMs: number,
): Promise<readonly LedgerAnswer[]> {
  const column = <C extends keyof LedgerLine>(name: C): LedgerLine[C][] => lines.map((line) => line[name]);
  const ends = lines.map(({ endsAt }) => toDate(Number.isFinite(endsAt) ? endsAt : null));
  // Each draw asks for the patience, so that it is set before.
  const { rows } = await sql<LedgerAnswer & { place: number }>`${preparedStatement}
    with patience as materialized (select set_config('lock_timeout', ${String(patienceMs)}, true) as ms)
    select place::int4, granted::float8, rest::float8, spent_by_all::float8 as spent,
      silent::float8
    from (
      select * from unnest(${column("budget")}::text[], ${column("period")}::text[], ${column("turn")}::bigint[],
        ${column("spent")}::bigint[], ${column("held")}::bigint[], ${column("wanted")}::bigint[],
        ${column("most")}::bigint[], ${ends}::timestamptz[])
        with ordinality as line (budget, period, turn, spent, held, wanted, most, ends, place)
      order by budget, period
    ) as line
    cross join patience
    cross join lateral draw_budget(budget, period, case when ms <> '' then ${holder} end, turn, spent, held, wanted, most, ends)`.execute(
    db,
  );
  return rows.toSorted((a, b) => a.place - b.place).map(({ place: _, ...answer }) => answer);
}
