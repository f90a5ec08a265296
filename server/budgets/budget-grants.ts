import type { KeyRecord } from "../../domain/access/key-record.ts";
import { budgetsOf, type OwnedBudget } from "../../domain/budget/budget.ts";
import { UNUSED, type UsedTokens } from "../../domain/usage/token-reservation.ts";
import type { Clock } from "../../runtime/clock.ts";
import { answerWithin } from "../../runtime/deadline.ts";
import type { LedgerAnswer, LedgerLine } from "../../store/budgets/budget-ledger.ts";
import { DrawQueue, LateDrawError } from "../limits/draw-queue.ts";
import type { CallPricer, ListedPrices } from "../usage/call-pricer.ts";
import { type HeldBudget, HeldBudgets, isMore, lineOf } from "./held-budgets.ts";
import { type BudgetedCall, type MeasuredCall, measureCall } from "./measure-call.ts";

/**
 * Milliseconds between two rounds: each writes what was used, and gives back what no call has asked for since the last,
 * but for a share while there are calls.
 */
export const ROUND_MS = 1_000;
/**
 * Divisor of what is left of a budget. A thread that is called keeps so much beside what calls ask for: its calls go on
 * while the database does not answer for a moment. The ledger grants as much at once.
 */
const KEPT_SHARE = 50;
/** Maximum number of times that a thread writes its last lines: until none is locked. */
const LAST_TRIES = 5;
/** Milliseconds within which what the ledger has lost, as by a restore, is written again. */
const REWRITE_MS = 600_000;
/**
 * Milliseconds that a call waits for its slot at most, and as long for the database; below, those for which the next
 * ones do not wait.
 */
const ANSWER_MS = 500;
const AWAY_MS = 1_000;
/**
 * Milliseconds that a refusal holds for calls that may use as much, while others may give something back; and so does a
 * lock.
 */
const REFUSED_MS = 500;
/** Times that a call asks for more at most: others may take what was granted for it. */
const MOST_TRIES = 1_000;
/**
 * Milliseconds that a period is kept after its end: meanwhile its budget may get a time zone in which it is under way.
 */
const KEPT_MS = 48 * 3_600_000;

type BudgetGrantsDeps = {
  /** Writes this thread's lines to the ledger, each at most once. */
  readonly write: (lines: readonly LedgerLine[]) => Promise<readonly (LedgerAnswer | null)[]>;
  /** Number of lines that `write` takes at once. */
  readonly mostLines: number;
  /** Milliseconds that a call waits for its slot, and as many for the database. */
  readonly answerMs?: number;
  readonly clock: Clock;
  readonly pricer: CallPricer;
};

/** Amounts that a call has reserved of each of its budgets, to be settled once. */
export type BudgetReservation = {
  readonly parts: readonly {
    readonly held: HeldBudget;
    readonly isRefusing: boolean;
    readonly call: MeasuredCall;
    /** Size of the budget, as it was when the call came. */
    readonly most: number;
  }[];
};

/** Reason why a call is refused. Amounts are parts of the budget's unit. */
export type BudgetRefusal =
  | {
      readonly kind: "exhausted";
      readonly budget: OwnedBudget;
      /** Amount that all have used in the period so far. */
      readonly spent: number;
      /** Amount that threads that ended still hold, and no call can have. */
      readonly silent: number;
      /** Amount that the call may use. */
      readonly expected: number;
      /** End of the period in milliseconds since the epoch; Infinity for never. */
      readonly endsAt: number;
    }
  /** The thread holds too little, and the database does not answer. */
  | { readonly kind: "away"; readonly budget: OwnedBudget }
  /** The database answers, but other calls have the budget, or their slots, before this one. */
  | { readonly kind: "busy"; readonly budget: OwnedBudget }
  /** Calls of its own team have their slots before this one. */
  | { readonly kind: "crowded"; readonly budget: OwnedBudget }
  /** The cost of the call is not known: the price list is of another currency, null for none, or lacks a model. */
  | {
      readonly kind: "unpriced";
      readonly budget: OwnedBudget;
      readonly currency: string | null;
      readonly models: BudgetedCall["models"];
    };

type ReservedPart = BudgetReservation["parts"][number];
/** A budget that refuses calls, what a call is to reserve of it, and the queue in which that is asked for. */
type WantedPart = ReservedPart & { readonly budget: OwnedBudget; readonly queue: string };
/** The same, once it is known how much that is. */
type WantedAmount = Pick<WantedPart, "held" | "budget" | "queue"> & { readonly expected: number };

/**
 * Budgets that hold for the whole installation: a ledger in the database grants each thread a share of what is left,
 * from which calls reserve what they may use, and to which they settle what they have used. The share of a thread that
 * dies counts as used.
 */
export class BudgetGrants {
  readonly #deps: BudgetGrantsDeps;
  readonly #held: HeldBudgets;
  readonly #draws: DrawQueue<LedgerLine, LedgerAnswer | null>;
  readonly #answerMs: number;
  #awayUntil = 0;
  /** True if the ledger did not take the last lines: it would not know of what is given back. */
  #isCutOff = false;
  #round: Promise<void> | undefined;

  constructor(deps: BudgetGrantsDeps) {
    this.#deps = deps;
    this.#held = new HeldBudgets(deps.clock);
    this.#answerMs = deps.answerMs ?? ANSWER_MS;
    this.#draws = new DrawQueue({ ask: deps.write, answerMs: this.#answerMs });
  }

  /**
   * Reserves what a call may use of its budgets: of all of them, or of none. If its key's own budgets refuse it, its
   * team's are not asked; if those refuse it, the budgets that teams share are not. The budgets of each of the three
   * are asked for together (threats b289). It is done at once if enough of all of them is here. Never rejects.
   */
  reserve(key: KeyRecord, call: BudgetedCall): BudgetReservation | Promise<BudgetReservation | BudgetRefusal> {
    const listed = this.#listed();
    const parts = budgetsOf(key).map((budget) => this.#partOf(budget, call, listed));
    if (!parts.every(hasEnough)) return this.#reserveInTurn(key, call);
    for (const { held, isRefusing, call: measured } of parts) if (isRefusing) take(held, measured.expected);
    return { parts };
  }

  async #reserveInTurn(key: KeyRecord, call: BudgetedCall): Promise<BudgetReservation | BudgetRefusal> {
    const listed = this.#listed();
    const parts: ReservedPart[] = [];
    for (const budgets of Map.groupBy(budgetsOf(key), ({ of }) => of).values()) {
      const wanted: WantedPart[] = [];
      for (const budget of budgets) {
        const part = this.#partOf(budget, call, listed);
        parts.push(part);
        if (part.isRefusing) wanted.push({ ...part, budget, queue: queueOf(budget, key) });
      }
      const refusal = await this.#take(wanted, call.models, listed.currency);
      if (refusal === undefined) continue;
      this.settle({ parts: parts.slice(0, -budgets.length) }, UNUSED);
      return refusal;
    }
    return { parts };
  }

  #listed(): ListedPrices {
    const { clock, pricer } = this.#deps;
    return pricer.at(clock.now());
  }

  #partOf(budget: OwnedBudget, call: BudgetedCall, listed: ListedPrices): ReservedPart {
    const measured = measureCall(budget, call, listed);
    const held = this.#held.of(budget);
    return { held, isRefusing: budget.onExhausted === "Refuse", call: measured, most: held.most };
  }

  /** Charges what a call has used in the end, also beyond what it had reserved, and keeps the rest for other calls. */
  settle({ parts }: BudgetReservation, used: UsedTokens): void {
    for (const { held, isRefusing, call, most } of parts) {
      const amount = call.usedBy(used);
      held.spent += amount;
      if (isRefusing) {
        const { expected = 0 } = call;
        held.reserved -= expected;
        // What it has used beyond that is owed by what comes back, before the next call has any of it (threats b305).
        const rest = expected - amount;
        // What is left over of a budget that was lowered meanwhile goes back with the next line.
        held.free += held.most < most ? Math.min(0, rest) : rest;
      }
      held.isChanged = true;
    }
  }

  /**
   * Writes what has changed, and gives back what no call has asked for since the last round, but for a share while there
   * are calls, and what was too little for a call: several threads may have enough together. Never rejects.
   */
  endRound(): Promise<void> {
    this.#round ??= this.#write(false).finally(() => {
      this.#round = undefined;
    });
    return this.#round;
  }

  /** Gives back everything that is held, once no call is under way. Never rejects. */
  async close(): Promise<void> {
    this.#draws.end();
    await this.#round;
    await this.#write(true);
    // No round comes later for a line that another transaction has locked.
    for (let tries = 1; tries < LAST_TRIES && this.#held.isAnyChanged; tries++) await this.#write(true);
  }

  /** Takes from all of these budgets, once each of them has enough here, or from none. */
  async #take(
    parts: readonly WantedPart[],
    models: BudgetedCall["models"],
    currency: string | null,
  ): Promise<BudgetRefusal | undefined> {
    const wanted: WantedAmount[] = [];
    for (const { held, budget, queue, call } of parts) {
      const { expected } = call;
      if (expected === undefined) return { kind: "unpriced", budget, currency, models };
      wanted.push({ held, budget, queue, expected });
    }
    for (let tries = 0; tries < MOST_TRIES; tries++) {
      const lacking = wanted.filter(({ held, expected }) => isMore(expected, held.free));
      if (lacking.length === 0) {
        for (const { held, expected } of wanted) take(held, expected);
        return undefined;
      }
      for (const one of lacking) {
        one.held.isAsked = true;
        const refusal = this.#knownRefusal(one);
        if (refusal !== undefined) return refusal;
      }
      const answers = await Promise.allSettled(lacking.map((one) => this.#ask(one)));
      const late = lacking.find((_, position) => answers[position]?.status === "rejected");
      if (late !== undefined) return { kind: "away", budget: late.budget };
    }
    const [first] = wanted;
    return first && { kind: "away", budget: first.budget };
  }

  /**
   * Returns the reason why a budget that lacks what a call wants is not asked for now; undefined if it is to be asked.
   */
  #knownRefusal({ held, budget, expected }: WantedAmount): BudgetRefusal | undefined {
    const now = this.#deps.clock.monotonic();
    const { refused, busy, period, free } = held;
    if (refused !== undefined && now < refused.until && isMore(expected, refused.left + free)) {
      const { spent, silent } = refused;
      return { kind: "exhausted", budget, spent, silent, expected, endsAt: period.endsAt };
    }
    if (busy !== undefined && now < busy.until) return { kind: busy.kind, budget };
    return now < this.#awayUntil ? { kind: "away", budget } : undefined;
  }

  /** Has more asked for, or waits for the line that is under way. Rejects if that takes too long. */
  async #ask({ held, queue, expected }: WantedAmount): Promise<void> {
    held.writing ??= this.#draw(held, queue, expected - Math.max(0, held.free)).finally(() => {
      held.writing = undefined;
    });
    await answerWithin(2 * this.#answerMs, held.writing);
  }

  /** Asks the ledger for more; if it has too little, that is remembered. */
  async #draw(held: HeldBudget, queue: string, wanted: number): Promise<void> {
    const { clock } = this.#deps;
    let { most } = held;
    let owed = 0;
    const line = (): LedgerLine => {
      most = held.most;
      owed = Math.max(0, -held.free);
      return lineOf(held, wanted);
    };
    try {
      const answer = await this.#draws.draw(queue, line);
      if (answer === null) {
        held.isChanged = true;
        held.busy = { kind: "busy", until: clock.monotonic() + REFUSED_MS };
        return;
      }
      const { granted, rest, spent, silent } = answer;
      held.left = rest;
      // What was granted of a budget that was lowered meanwhile goes back with the next line.
      if (held.most < most) held.isChanged = true;
      // If the ledger has capacity beside all that was used, what was owed by then is owed no more.
      else if (rest >= 0) held.free += granted + owed;
      held.refused = granted > 0 ? undefined : { left: rest, spent, silent, until: clock.monotonic() + REFUSED_MS };
    } catch (error) {
      held.isChanged = true;
      const now = clock.monotonic();
      if (!(error instanceof LateDrawError)) this.#awayUntil = now + AWAY_MS;
      // What teams share has a queue of its own, and no team's calls before it.
      else held.busy = { kind: error.isOwn && queue !== held.id ? "crowded" : "busy", until: now + REFUSED_MS };
    }
  }

  async #write(isLast: boolean): Promise<void> {
    const { clock, mostLines } = this.#deps;
    const [now, time] = [clock.monotonic(), clock.now()];
    const due: HeldBudget[] = [];
    for (const held of this.#held.all()) {
      if (held.writing !== undefined && !isLast) continue;
      const isOver = held.period.endsAt <= time;
      const isKept = held.isAsked && !isLast && !isOver && held.refused === undefined;
      const spare = isKept ? this.#spareOf(held) : held.free;
      if (spare > 0) {
        held.free -= spare;
        held.isChanged = true;
      }
      held.unasked = held.free;
      held.isAsked = false;
      if (held.isChanged || now - held.writtenAt >= REWRITE_MS) due.push(held);
      else if (held.period.endsAt + KEPT_MS <= time && !isMore(held.reserved, 0)) this.#held.forget(held);
    }
    for (let i = 0; i < due.length; i += mostLines) {
      // One that has begun to ask for more since has a line of its own under way, and is written in the next round.
      const free = due.slice(i, i + mostLines).filter(({ writing }) => writing === undefined || isLast);
      if (free.length > 0) await this.#writeLines(free);
    }
  }

  /** Returns what a budget holds that no call has asked for since the last round, beyond the share that is kept. */
  #spareOf({ unasked, free, left }: HeldBudget): number {
    return this.#isCutOff ? 0 : Math.min(unasked, free) - Math.max(0, left) / KEPT_SHARE;
  }

  async #writeLines(all: readonly HeldBudget[]): Promise<void> {
    const lines = all.map((held) => {
      held.isChanged = false;
      held.writtenAt = this.#deps.clock.monotonic();
      return lineOf(held, 0);
    });
    const written = this.#deps.write(lines).then(
      (answers) => {
        this.#isCutOff = false;
        // What another transaction has locked is written in the next round.
        for (const [position, held] of all.entries()) {
          const answer = answers[position] ?? null;
          if (answer === null) held.isChanged = true;
          else held.left = answer.rest;
        }
      },
      () => {
        this.#isCutOff = true;
        for (const held of all) held.isChanged = true;
      },
    );
    // A grant that is asked for meanwhile would be of an earlier line, and be lost.
    for (const held of all) {
      held.writing = written.finally(() => {
        held.writing = undefined;
      });
    }
    await written;
  }
}

/** True if a budget refuses no calls, or enough of it is here. */
function hasEnough({ held, isRefusing, call: { expected } }: ReservedPart): boolean {
  return !isRefusing || (expected !== undefined && !isMore(expected, held.free));
}

function take(held: HeldBudget, expected = 0): void {
  held.isAsked = true;
  held.free -= expected;
  held.unasked = Math.min(held.unasked, held.free);
  held.reserved += expected;
}

/**
 * Returns the queue in which a budget is drawn from. A budget that several teams share has its own, and waits behind no
 * team's many.
 */
function queueOf({ id, of }: OwnedBudget, { teamId }: KeyRecord): string {
  return of === "policy" ? id : teamId;
}
