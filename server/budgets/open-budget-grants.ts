import { randomUUID } from "node:crypto";
import type { Clock } from "../../runtime/clock.ts";
import type { Logger } from "../../runtime/log.ts";
import { type LedgerLine, MAX_LINES, writeLedger } from "../../store/budgets/budget-ledger.ts";
import { recordBudgetNotice } from "../../store/budgets/budget-notices.ts";
import { change } from "../../store/database/change.ts";
import type { Store } from "../../store/database/store.ts";
import { CallPricer } from "../usage/call-pricer.ts";
import type { CurrentPrices } from "../usage/price-file.ts";
import { BudgetGrants, ROUND_MS } from "./budget-grants.ts";
import { BudgetNotices } from "./budget-notices.ts";

type BudgetsDeps = {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Pick<Logger, "warn">;
  readonly prices: CurrentPrices;
};

/** Opens a thread's budgets. Closed once its calls are over, they give back what they hold. */
export function openBudgetGrants({ store, clock, log, prices }: BudgetsDeps): {
  readonly budgets: BudgetGrants;
  close(): Promise<void>;
} {
  const holder = randomUUID();
  const notices = new BudgetNotices({
    record: (notice) => change(store, null, (tx) => recordBudgetNotice(tx, notice)),
    log,
  });
  const write = async (lines: readonly LedgerLine[]) => {
    const answers = await writeLedger(store.db, holder, lines);
    notices.note(lines, answers);
    return answers;
  };
  const budgets = new BudgetGrants({ write, mostLines: MAX_LINES, clock, pricer: new CallPricer(prices) });
  const rounds = setInterval(() => void budgets.endRound(), ROUND_MS);
  return {
    budgets,
    async close() {
      clearInterval(rounds);
      await budgets.close();
      await notices.settled();
    },
  };
}
