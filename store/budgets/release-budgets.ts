import { sql } from "kysely";
import type { OwnedBudget } from "../../domain/budget/budget.ts";
import { periodAt } from "../../domain/budget/period.ts";
import type { Tx } from "../database/change.ts";
import { SILENT } from "./read-budgets.ts";

/** Amount that a budget got back, in parts of its unit: more than 0. */
type ReleasedBudget = { readonly budget: OwnedBudget; readonly released: number };

/**
 * Gives back to budgets what ended threads hold of their present period, and forgets the thresholds that were reached by
 * that alone. A thread that was only silent reports what it holds again with its next line.
 *
 * @param now milliseconds since the epoch
 */
export async function releaseBudgets(
  tx: Tx,
  budgets: readonly OwnedBudget[],
  now: number,
): Promise<readonly ReleasedBudget[]> {
  const periods = budgets.map(({ period, timeZone }) => periodAt(period, timeZone, now).name);
  const { rows } = await sql<{ budget: string; released: number }>`
    with left_behind as (
      select line.budget, line.period, line.holder, line.held
      from unnest(${budgets.map(({ id }) => id)}::text[], ${periods}::text[]) as asked (budget, period)
      join budget_ledger line using (budget, period)
      where line.held > 0 and line.written_at < clock_timestamp() - ${SILENT}
      for update of line
    ), given_back as (
      update budget_ledger line set held = 0 from left_behind was
      where line.budget = was.budget and line.period = was.period and line.holder = was.holder
    )
    select budget, sum(held)::float8 as released from left_behind group by budget`.execute(tx);
  // What is used no more is reported once more when it is.
  await sql`delete from budget_notices notice
    using (
      select budget, period, sum(spent) as used
      from unnest(${rows.map(({ budget }) => budget)}::text[]) as released (budget) join budget_ledger using (budget)
      group by budget, period
    ) left_over
    where notice.budget = left_over.budget and notice.period = left_over.period and notice.period = any(${periods}::text[])
      and notice.percent::float8 * notice.most > 100 * left_over.used`.execute(tx);
  return budgets.flatMap((budget) => {
    const { released = 0 } = rows.find((row) => row.budget === budget.id) ?? {};
    return released > 0 ? [{ budget, released }] : [];
  });
}
