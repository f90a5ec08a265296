import { randomUUID } from "node:crypto";
import type { Clock } from "../../runtime/clock.ts";
import { MAX_LINES, writeLedger } from "../../store/budgets/budget-ledger.ts";
import type { Store } from "../../store/database/store.ts";
import { BudgetGrants, ROUND_MS } from "./budget-grants.ts";

/** Opens a thread's budgets. Closed once its calls are over, they give back what they hold. */
export function openBudgetGrants(
  { db }: Pick<Store, "db">,
  clock: Clock,
): { readonly budgets: BudgetGrants; close(): Promise<void> } {
  const holder = randomUUID();
  const budgets = new BudgetGrants({ write: (lines) => writeLedger(db, holder, lines), mostLines: MAX_LINES, clock });
  const rounds = setInterval(() => void budgets.endRound(), ROUND_MS);
  return {
    budgets,
    async close() {
      clearInterval(rounds);
      await budgets.close();
    },
  };
}
