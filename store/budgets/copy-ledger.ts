import { sql } from "kysely";
import { type KeyPlace, keyOwner } from "../../domain/budget/budget.ts";
import type { Tx } from "../database/change.ts";

/**
 * Copies what was used and is held of a key's budgets to another name of the key, as one line of each budget and
 * period. The lines of the old name stay, so that threads that do not know the new one yet draw from what is left.
 */
export async function copyLedger(tx: Tx, { from, to }: Readonly<Record<"from" | "to", KeyPlace>>): Promise<void> {
  const [old, renamed] = [from, to].map((place) => `key ${keyOwner(place)} `);
  await sql`insert into budget_ledger as line (budget, period, holder, turn, spent, held, ends_at, written_at)
    select ${renamed} || substr(budget, length(${old}) + 1), period, ${old}, 1, sum(spent), sum(held), max(ends_at),
      max(written_at)
    from budget_ledger where starts_with(budget, ${old}) group by budget, period
    on conflict (budget, period, holder) do update set
      spent = greatest(line.spent, excluded.spent), held = excluded.held`.execute(tx);
}
