import type { OwnedBudget } from "../../domain/budget/budget.ts";
import { mostOf } from "../../domain/budget/budget-size.ts";
import { type Period, periodAt } from "../../domain/budget/period.ts";
import type { Clock } from "../../runtime/clock.ts";
import type { LedgerLine } from "../../store/budgets/budget-ledger.ts";

/** Error of sums of fractions, in parts. */
const NOISE = 1e-6;
/**
 * Largest amount that is stored: a hundred times the largest budget. A caller may ask for more, and an upstream report
 * more, than the database has numbers for: it would take no line that is written together with such an amount (threats
 * b151).
 */
const MOST_STORED = 1e15;

/** Share of a budget that this thread holds in one period. Amounts are parts of the budget's unit. */
export type HeldBudget = {
  readonly id: string;
  readonly timeZone: string;
  readonly period: Period;
  /** Size of the budget, as it was last declared. */
  most: number;
  spent: number;
  /** Amount that calls under way may use. */
  reserved: number;
  /** Amount that was granted, and no call has reserved; below 0, what calls have used beyond all of that. */
  free: number;
  /** Lowest that `free` was since the last round as calls reserved: no call has asked for that much. */
  unasked: number;
  /** Rest of the budget that no thread had used or held, as the ledger last said. */
  left: number;
  revision: number;
  /** True if the ledger lacks something that it should know. */
  isChanged: boolean;
  /** True if a call has asked for some since the last round. */
  isAsked: boolean;
  /** Time of the last write, by the monotonic clock. */
  writtenAt: number;
  writing: Promise<void> | undefined;
  /**
   * Time, by the monotonic clock, until which others have the budget, or their slots, before a call; `crowded` if those
   * are of its own team.
   */
  busy: { readonly kind: "busy" | "crowded"; readonly until: number } | undefined;
  refused:
    | { readonly left: number; readonly spent: number; readonly silent: number; readonly until: number }
    | undefined;
};

/** Shares that this thread holds of each budget, by the periods in which it was used. */
export class HeldBudgets {
  readonly #clock: Clock;
  /** Shares by the budget's id and the period's name. */
  readonly #byPeriod = new Map<string, HeldBudget>();
  /** Shares of the period that is under way, by the budget's id. */
  readonly #current = new Map<string, HeldBudget>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Returns the shares of all periods, also of those that are over. */
  all(): Iterable<HeldBudget> {
    return this.#byPeriod.values();
  }

  /** Returns what is held of a budget in the period that is under way, as the budget is declared now. */
  of(budget: OwnedBudget): HeldBudget {
    const { id, timeZone, period } = budget;
    const most = mostOf(budget);
    const clock = this.#clock;
    const now = clock.now();
    const current = this.#current.get(id);
    if (current !== undefined && current.timeZone === timeZone && isWithin(now, current.period)) {
      return asDeclared(current, most);
    }
    const present = periodAt(period, timeZone, now);
    const key = periodKey(id, present);
    const known = this.#byPeriod.get(key);
    const held: HeldBudget = {
      ...{ id, timeZone, period: present, most, writtenAt: clock.monotonic() },
      ...{ spent: 0, reserved: 0, free: 0, unasked: 0, left: 0, revision: 0 },
      ...{ isChanged: false, isAsked: false, writing: undefined, busy: undefined, refused: undefined },
    };
    const kept = known === undefined ? held : asDeclared(Object.assign(known, { timeZone, period: present }), most);
    this.#byPeriod.set(key, kept);
    this.#current.set(id, kept);
    return kept;
  }

  /** True if the ledger lacks something of any budget. */
  get isAnyChanged(): boolean {
    return this.#byPeriod.values().some(({ isChanged }) => isChanged);
  }

  /** Drops what is held of a period that no call names any more. */
  forget(held: HeldBudget): void {
    this.#byPeriod.delete(periodKey(held.id, held.period));
    if (this.#current.get(held.id) === held) this.#current.delete(held.id);
  }
}

/**
 * Returns a line for the ledger: what it is to know of a budget, and how much more is wanted of it. Its `revision` is
 * greater than that of any line before.
 */
export function lineOf(held: HeldBudget, wanted: number): LedgerLine {
  const { id, period, most, spent, reserved, free } = held;
  const { name, endsAt } = period;
  held.revision++;
  const amounts = { spent: whole(spent), held: whole(reserved + Math.max(0, free)), wanted: whole(wanted) };
  return { budget: id, period: name, endsAt, revision: held.revision, ...amounts, most };
}

/** True if an amount is greater than another by more than the error of their sums. */
export function isMore(amount: number, than: number): boolean {
  return amount - than > NOISE;
}

/** Rounds up to whole parts, as the ledger has them: sums are rounded, and not each call. */
function whole(parts: number): number {
  return Math.min(Math.ceil(parts - NOISE), MOST_STORED);
}

/**
 * Updates the size of a budget. If it is lowered, nothing more is used that was granted before: what is left is asked
 * for anew.
 */
function asDeclared(held: HeldBudget, most: number): HeldBudget {
  if (most < held.most && held.free > 0) {
    held.free = 0;
    held.isChanged = true;
  }
  held.most = most;
  return held;
}

function isWithin(now: number, { beginsAt, endsAt }: Period): boolean {
  return beginsAt <= now && now < endsAt;
}

function periodKey(id: string, { name }: Period): string {
  return `${id} ${name}`;
}
