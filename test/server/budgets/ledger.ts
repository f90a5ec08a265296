import type { PriceList } from "../../../domain/usage/price-list.ts";
import { UNUSED, type UsedTokens } from "../../../domain/usage/token-reservation.ts";
import type { Clock } from "../../../runtime/clock.ts";
import { BudgetGrants } from "../../../server/budgets/budget-grants.ts";
import type { BudgetedCall } from "../../../server/budgets/measure-call.ts";
import { CallPricer } from "../../../server/usage/call-pricer.ts";
import type { LedgerAnswer, LedgerLine } from "../../../store/budgets/budget-ledger.ts";

type KeptBudget = { revision: number; spent: number; held: number };
export type Ledger = (holder: string, lines: readonly LedgerLine[]) => Promise<readonly (LedgerAnswer | null)[]>;

/** A ledger in memory, as the database keeps it; `database` says whether it is away, and counts what it is asked. */
export function ledgerInMemory() {
  const database = { isAway: false, writes: 0 };
  const kept = new Map<string, Map<string, KeptBudget>>();
  const writeOne = (holder: string, line: LedgerLine): LedgerAnswer => {
    const place = `${line.budget} ${line.period}`;
    const holders = kept.get(place) ?? new Map<string, KeptBudget>();
    kept.set(place, holders);
    const before = holders.get(holder);
    const isNews = before === undefined || before.revision < line.revision;
    const now = isNews
      ? { revision: line.revision, spent: Math.max(line.spent, before?.spent ?? 0), held: line.held }
      : { ...before };
    holders.set(holder, now);
    const all = [...holders.values()];
    const spent = all.reduce((sum, one) => sum + one.spent, 0);
    const rest = line.most - all.reduce((sum, one) => sum + one.spent + one.held, 0);
    const isGranted = isNews && line.wanted > 0 && rest >= line.wanted;
    const granted = isGranted ? Math.max(line.wanted, Math.trunc(rest / 50)) : 0;
    now.held += granted;
    return { granted, rest: rest - granted, spent, silent: 0 };
  };
  const write: Ledger = async (holder, lines) => {
    database.writes++;
    if (database.isAway) throw new Error("the database is away");
    return lines.map((line) => writeOne(holder, line));
  };
  /** What all holders have used of a budget, and what they hold. */
  const sumOf = (budget: string, period: string) => {
    const all = [...(kept.get(`${budget} ${period}`)?.values() ?? [])];
    return {
      spent: all.reduce((sum, one) => sum + one.spent, 0),
      held: all.reduce((sum, one) => sum + one.held, 0),
    };
  };
  return { database, write, sumOf };
}

export function ledgerThatIsAway(): Ledger {
  const { database, write } = ledgerInMemory();
  database.isAway = true;
  return write;
}

let holders = 0;

/** A call that may use so many tokens. */
export function callOf(tokens: number): BudgetedCall {
  return { tokens: { input: tokens, output: 0 }, models: [] };
}

/** That a call's answer has reported so many tokens. */
export function usedOf(reported: number): UsedTokens {
  return { ...UNUSED, reported };
}

type Options = {
  readonly mostLines?: number;
  readonly prices?: () => PriceList | null;
  /** How long calls wait for a ledger that is a database's: on a busy machine it answers late. */
  readonly answerMs?: number;
};

/** A thread's budgets on a ledger, as a holder of its own. */
export function budgetsOn(
  write: Ledger,
  clock: Clock,
  { mostLines = 1_000, prices = () => null, ...times }: Options = {},
): BudgetGrants {
  const holder = `holder-${++holders}`;
  const pricer = new CallPricer({ current: prices });
  return new BudgetGrants({ write: (lines) => write(holder, lines), mostLines, clock, pricer, ...times });
}
