import { reachedThreshold, type Threshold } from "../../domain/budget/threshold.ts";
import type { Logger } from "../../runtime/log.ts";
import type { LedgerAnswer, LedgerLine } from "../../store/budgets/budget-ledger.ts";
import type { BudgetNotice } from "../../store/budgets/budget-notices.ts";
import { keepNewest } from "../context/bounded-map.ts";

/** Budgets of which a thread knows what is recorded; of a budget that it has forgotten, the store knows. */
const MOST_KNOWN = 10_000;

type BudgetNoticesDeps = {
  /** Records a notice, unless any process has. */
  readonly record: (notice: BudgetNotice) => Promise<unknown>;
  readonly log: Pick<Logger, "warn">;
};

/**
 * Has the thresholds recorded that budgets reach, as the ledger's answers to a thread's lines show them. The thread
 * whose line passes a threshold sees it; if that thread is gone, any other does with its next line. No call waits for
 * it.
 */
export class BudgetNotices {
  readonly #deps: BudgetNoticesDeps;
  /** Thresholds that are recorded, and what was used last, by budget, period and the budget's size. */
  readonly #recorded = new Map<string, { readonly percent: Threshold | 0; readonly used: number }>();
  /** End of the queue of recordings: one after the other, since a thread that begins finds many budgets half used. */
  #recording: Promise<void> = Promise.resolve();

  constructor(deps: BudgetNoticesDeps) {
    this.#deps = deps;
  }

  /** Looks for thresholds in what the ledger has answered to lines. */
  note(lines: readonly LedgerLine[], answers: readonly (LedgerAnswer | null)[]): void {
    for (const [position, line] of lines.entries()) {
      const answer = answers[position];
      if (answer != null) this.#noteOne(line, answer);
    }
  }

  /** Resolves once all that was noted is recorded, or could not be. */
  settled(): Promise<void> {
    return this.#recording;
  }

  #noteOne({ budget, period, most, wanted, endsAt }: LedgerLine, { granted, spent, silent, rest }: LedgerAnswer): void {
    const used = spent + silent;
    const percent = reachedThreshold({ limit: most, used, hasRefused: granted === 0 && rest < wanted });
    const position = `${budget} ${period} ${most}`;
    const before = this.#recorded.get(position);
    // Less is used where a release has given back what ended servers held: the store has forgotten thresholds with it.
    const recorded = before === undefined || used < before.used ? 0 : before.percent;
    if (percent === undefined || percent <= recorded) {
      if (before !== undefined) this.#recorded.set(position, { percent: recorded, used });
      return;
    }
    keepNewest(this.#recorded, position, { percent, used }, MOST_KNOWN);
    this.#recording = this.#recording.then(async () => {
      try {
        await this.#deps.record({ budget, period, most, used, percent, endsAt });
      } catch (error) {
        // The next line of this budget has it recorded.
        this.#recorded.delete(position);
        this.#deps.log.warn({ error }, `could not record that ${percent} % of a budget are used; it is tried again`);
      }
    });
  }
}
