import { sql } from "kysely";
import type { Store } from "../database/store.ts";

/** Holder of the line that sums up what ended threads have used and held of a budget. No thread has such a name. */
const ENDED = "ended";
/** Time without a line after which a thread counts as ended: running threads write their lines every ten minutes. */
const ENDED_AFTER = sql`interval '7 days'`;
/** Maximum number of lines that a round reads. */
const MOST_LINES = 10_000;
/**
 * Milliseconds between two rounds: more than twice the time within which each running thread writes its lines. So a
 * thread whose machine slept, or whose database was put back in time, writes its lines again before they are read
 * again.
 */
export const FOLD_INTERVAL_MS = 20 * 60_000;

type EndedLine = { readonly budget: string; readonly period: string; readonly holder: string };

/**
 * Folds the lines of ended threads into one line for each budget that never resets. All lines of a budget are summed at
 * each draw, under its lock, and nothing else deletes these lines. The amounts in the folded line still count, and what
 * the threads held can be given back as before.
 *
 * A line is folded in the second round that finds it unchanged. If its thread wrote afterwards, what the thread has
 * used would count twice.
 *
 * @returns the rounds; each returns the number of lines that it has folded
 */
export function lineFolding({ backgroundDb: db }: Pick<Store, "backgroundDb">): { next(): Promise<number> } {
  let seen: ReadonlySet<string> = new Set();
  return {
    async next() {
      const { rows } = await sql<EndedLine>`
        select budget, period, holder from budget_ledger
        where ends_at is null and holder <> ${ENDED} and written_at < clock_timestamp() - ${ENDED_AFTER}
        order by budget, period limit ${MOST_LINES}`.execute(db);
      const known = rows.filter((line) => seen.has(nameOf(line)));
      seen = new Set(rows.map(nameOf));
      let folded = 0;
      for (const lines of Map.groupBy(known, ({ budget, period }) => `${budget} ${period}`).values()) {
        folded += await foldLines(db, lines);
      }
      return folded;
    },
  };
}

/** @param lines lines of one budget and period */
async function foldLines(db: Store["backgroundDb"], lines: readonly EndedLine[]): Promise<number> {
  const [first] = lines;
  if (first === undefined) return 0;
  const { budget, period } = first;
  return db.transaction().execute(async (tx) => {
    // The lock that a draw takes: every draw sees either the lines or their sum.
    await sql`select pg_advisory_xact_lock(hashtextextended(${`${budget} ${period}`}, 0))`.execute(tx);
    const { rows } = await sql<{ folded: number }>`
      with gone as (
        delete from budget_ledger where budget = ${budget} and period = ${period}
          and holder = any(${lines.map(({ holder }) => holder)}::text[])
          and written_at < clock_timestamp() - ${ENDED_AFTER}
        returning spent, held, written_at
      ), folded as (
        insert into budget_ledger as line (budget, period, holder, turn, spent, held, ends_at, written_at)
        select ${budget}, ${period}, ${ENDED}, 1, sum(spent)::bigint, sum(held)::bigint, null, max(written_at)
        from gone having count(*) > 0
        on conflict (budget, period, holder) do update set turn = line.turn + 1, spent = line.spent + excluded.spent,
          held = line.held + excluded.held, written_at = greatest(line.written_at, excluded.written_at)
      )
      select count(*)::int4 as folded from gone`.execute(tx);
    return rows[0]?.folded ?? 0;
  });
}

function nameOf({ budget, period, holder }: EndedLine): string {
  return `${budget} ${period} ${holder}`;
}
