/** Longer than most files: one class keeps what a thread holds of each budget, and how it gets it and gives it back. */
import type { KeyRecord } from "../../domain/access/key-record.ts";
import { budgetsOf, type OwnedBudget } from "../../domain/budget/budget.ts";
import { mostOf } from "../../domain/budget/budget-size.ts";
import { type Period, periodAt } from "../../domain/budget/period.ts";
import { UNUSED, type UsedTokens } from "../../domain/usage/token-reservation.ts";
import type { Clock } from "../../runtime/clock.ts";
import { answerWithin } from "../../runtime/deadline.ts";
import type { LedgerAnswer, LedgerLine } from "../../store/budgets/budget-ledger.ts";
import { DrawTurns, LateTurnError } from "../limits/draw-turns.ts";
import type { CallPricer } from "../usage/call-pricer.ts";
import { type BudgetedCall, type MeasuredCall, measureCall } from "./measure-call.ts";

/** What was used is written so often, and what no call has asked for in that time is given back. */
export const ROUND_MS = 1_000;
/** What the ledger has lost, as by a restore, is written again within this time. */
const REWRITE_MS = 600_000;
/** A call waits so long at most for its turn, and as long for the database, and the next ones do not wait for this long. */
const ANSWER_MS = 500;
const AWAY_MS = 1_000;
/** A refusal holds for calls that may use as much, for as long as others may give something back; and so does a lock. */
const REFUSED_MS = 500;
/** Others may take what was granted for a call: it asks again so often at most. */
const MOST_TRIES = 1_000;
/** What sums of fractions are off by, in parts. */
const NOISE = 1e-6;
/**
 * A hundred times the largest budget. A caller may ask for more, and an upstream report more, than the database has
 * numbers for: it would take no line that is written together with such a one (threats b151).
 */
const MOST_STORED = 1e15;
/** A period is kept so long after its end, in which its budget may get a time zone where it is under way. */
const KEPT_MS = 48 * 3_600_000;

type BudgetGrantsDeps = {
  /** Writes this thread's lines to the ledger, of which none is there twice. */
  readonly write: (lines: readonly LedgerLine[]) => Promise<readonly (LedgerAnswer | null)[]>;
  /** How many lines `write` takes at once. */
  readonly mostLines: number;
  readonly clock: Clock;
  readonly pricer: CallPricer;
};

/** What this thread holds of a budget in one period. Amounts are parts of the budget's unit. */
type Held = {
  readonly id: string;
  readonly timeZone: string;
  readonly period: Period;
  /** As it was last declared. */
  most: number;
  spent: number;
  /** What calls under way may use. */
  reserved: number;
  /** What was granted, and no call has reserved. */
  free: number;
  turn: number;
  /** Whether the ledger lacks something that it should know. */
  isChanged: boolean;
  /** Whether a call has asked for some since the last round. */
  isAsked: boolean;
  /** By the monotonic clock. */
  writtenAt: number;
  writing: Promise<void> | undefined;
  /** Until when, by the monotonic clock, others have it, or their turns, before a call; and whether those are its team's. */
  busy: { readonly kind: "busy" | "crowded"; readonly until: number } | undefined;
  refused:
    | { readonly left: number; readonly spent: number; readonly silent: number; readonly until: number }
    | undefined;
};

/** What a call has reserved of each of its budgets, to be settled once. */
export type BudgetReservation = {
  readonly parts: readonly { readonly held: Held; readonly isRefusing: boolean; readonly call: MeasuredCall }[];
};

/** Why a call is refused. Amounts are parts of the budget's unit. */
export type BudgetRefusal =
  | {
      readonly kind: "exhausted";
      readonly budget: OwnedBudget;
      /** What all have used in the period so far. */
      readonly spent: number;
      /** What threads that ended still hold, and no call can have. */
      readonly silent: number;
      /** What the call may use. */
      readonly expected: number;
      /** Milliseconds since the epoch; Infinity for never. */
      readonly endsAt: number;
    }
  /** What is held here is too little, and the database does not answer. */
  | { readonly kind: "away"; readonly budget: OwnedBudget }
  /** The database answers, and others have the budget, or their turns, before this call. */
  | { readonly kind: "busy"; readonly budget: OwnedBudget }
  /** Its own team's calls have their turns before this one. */
  | { readonly kind: "crowded"; readonly budget: OwnedBudget }
  /** What the call may cost is not known: the price list is of another currency, null for none, or lacks a model. */
  | {
      readonly kind: "unpriced";
      readonly budget: OwnedBudget;
      readonly currency: string | null;
      readonly models: BudgetedCall["models"];
    };

/**
 * Budgets that hold for the whole installation: a ledger in the database grants each thread a part of what is left,
 * from which calls reserve what they may use, and to which they settle what they have used. What a thread that dies
 * held counts as used.
 */
export class BudgetGrants {
  readonly #deps: BudgetGrantsDeps;
  /** By the budget's id and the period's name. */
  readonly #held = new Map<string, Held>();
  /** Of the period that is under way, by the budget's id. */
  readonly #current = new Map<string, Held>();
  readonly #draws: DrawTurns<LedgerLine, LedgerAnswer | null>;
  #awayUntil = 0;
  #round: Promise<void> | undefined;

  constructor(deps: BudgetGrantsDeps) {
    this.#deps = deps;
    this.#draws = new DrawTurns({ ask: deps.write, answerMs: ANSWER_MS });
  }

  /** Reserves what a call may use of the budgets of its key and its team: of all of them, or of none. Never fails. */
  async reserve(key: KeyRecord, call: BudgetedCall): Promise<BudgetReservation | BudgetRefusal> {
    const { clock, pricer } = this.#deps;
    const parts: BudgetReservation["parts"][number][] = [];
    for (const budget of budgetsOf(key)) {
      const isRefusing = budget.onExhausted === "Refuse";
      const measured = measureCall(budget, call, pricer, clock.now());
      const held = this.#heldOf(budget);
      const refusal = isRefusing ? await this.#take(held, budget, turnOf(budget, key), measured.expected) : undefined;
      if (refusal !== undefined) {
        this.settle({ parts }, UNUSED);
        return refusal === "unpriced"
          ? { kind: refusal, budget, currency: pricer.currency, models: call.models }
          : refusal;
      }
      parts.push({ held, isRefusing, call: measured });
    }
    return { parts };
  }

  /** Charges what a call has used in the end, also beyond what it had reserved, and keeps the rest for others. */
  settle({ parts }: BudgetReservation, used: UsedTokens): void {
    for (const { held, isRefusing, call } of parts) {
      const amount = call.usedBy(used);
      held.spent += amount;
      if (isRefusing) {
        const { expected = 0 } = call;
        held.reserved -= expected;
        held.free += Math.max(0, expected - amount);
      }
      held.isChanged = true;
    }
  }

  /**
   * Writes what has changed, and gives back what no call has asked for since the last round, and what was too little for
   * one: several threads may have enough together. Never fails.
   */
  endRound(): Promise<void> {
    this.#round ??= this.#write(false).finally(() => {
      this.#round = undefined;
    });
    return this.#round;
  }

  /** Gives back everything that is held, once no call is under way. Never fails. */
  async close(): Promise<void> {
    this.#draws.end();
    await this.#round;
    await this.#write(true);
  }

  async #take(
    held: Held,
    budget: OwnedBudget,
    turn: string,
    expected: number | undefined,
  ): Promise<BudgetRefusal | "unpriced" | undefined> {
    const { clock } = this.#deps;
    if (expected === undefined) return "unpriced";
    held.isAsked = true;
    for (let tries = 0; tries < MOST_TRIES; tries++) {
      if (held.free >= expected) {
        held.free -= expected;
        held.reserved += expected;
        return undefined;
      }
      const now = clock.monotonic();
      const { refused, busy } = held;
      if (refused !== undefined && now < refused.until && expected > refused.left + held.free) {
        return {
          kind: "exhausted",
          budget,
          spent: refused.spent,
          silent: refused.silent,
          expected,
          endsAt: held.period.endsAt,
        };
      }
      if (busy !== undefined && now < busy.until) return { kind: busy.kind, budget };
      if (now < this.#awayUntil) return { kind: "away", budget };
      held.writing ??= this.#draw(held, turn, expected - held.free).finally(() => {
        held.writing = undefined;
      });
      try {
        await answerWithin(2 * ANSWER_MS, held.writing);
      } catch {
        return { kind: "away", budget };
      }
    }
    return { kind: "away", budget };
  }

  /** Asks the ledger for more; where it has too little, that is remembered. */
  async #draw(held: Held, turn: string, wanted: number): Promise<void> {
    const { clock } = this.#deps;
    let { most } = held;
    const line = (): LedgerLine => {
      most = held.most;
      return this.#lineOf(held, wanted);
    };
    try {
      const answer = await this.#draws.draw(turn, line);
      if (answer === null) {
        held.isChanged = true;
        held.busy = { kind: "busy", until: clock.monotonic() + REFUSED_MS };
        return;
      }
      const { granted, rest, spent, silent } = answer;
      // What was granted of a budget that was lowered meanwhile goes back with the next line.
      if (held.most < most) held.isChanged = true;
      else held.free += granted;
      held.refused = granted > 0 ? undefined : { left: rest, spent, silent, until: clock.monotonic() + REFUSED_MS };
    } catch (error) {
      held.isChanged = true;
      const now = clock.monotonic();
      if (!(error instanceof LateTurnError)) this.#awayUntil = now + AWAY_MS;
      // What teams share has turns of its own, and no team's calls before it.
      else held.busy = { kind: error.isOwn && turn !== held.id ? "crowded" : "busy", until: now + REFUSED_MS };
    }
  }

  async #write(isLast: boolean): Promise<void> {
    const { clock, mostLines } = this.#deps;
    const [now, time] = [clock.monotonic(), clock.now()];
    const due: Held[] = [];
    for (const held of this.#held.values()) {
      if (held.writing !== undefined && !isLast) continue;
      const isOver = held.period.endsAt <= time;
      if (held.free > 0 && (isLast || isOver || !held.isAsked || held.refused !== undefined)) {
        held.free = 0;
        held.isChanged = true;
      }
      held.isAsked = false;
      if (held.isChanged || now - held.writtenAt >= REWRITE_MS) due.push(held);
      else if (held.period.endsAt + KEPT_MS <= time && held.reserved === 0) this.#forget(held);
    }
    for (let i = 0; i < due.length; i += mostLines) {
      // One that has begun to ask for more since has a line of its own under way, and is written in the next round.
      const free = due.slice(i, i + mostLines).filter(({ writing }) => writing === undefined || isLast);
      if (free.length > 0) await this.#writeLines(free);
    }
  }

  async #writeLines(all: readonly Held[]): Promise<void> {
    const lines = all.map((held) => {
      held.isChanged = false;
      held.writtenAt = this.#deps.clock.monotonic();
      return this.#lineOf(held, 0);
    });
    const written = this.#deps.write(lines).then(
      (answers) => {
        // What another transaction has locked is written in the next round.
        for (const [place, held] of all.entries()) held.isChanged ||= answers[place] === null;
      },
      () => {
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

  #lineOf(held: Held, wanted: number): LedgerLine {
    const { id, period, most, spent, reserved, free } = held;
    const { name, endsAt } = period;
    held.turn++;
    const amounts = { spent: whole(spent), held: whole(reserved + free), wanted: whole(wanted) };
    return { budget: id, period: name, endsAt, turn: held.turn, ...amounts, most };
  }

  #heldOf(budget: OwnedBudget): Held {
    const { id, timeZone, period } = budget;
    const most = mostOf(budget);
    const { clock } = this.#deps;
    const now = clock.now();
    const current = this.#current.get(id);
    if (current !== undefined && current.timeZone === timeZone && isWithin(now, current.period)) {
      return asDeclared(current, most);
    }
    const present = periodAt(period, timeZone, now);
    const place = placeOf(id, present);
    const known = this.#held.get(place);
    const held: Held = {
      ...{ id, timeZone, period: present, most, writtenAt: clock.monotonic() },
      ...{ spent: 0, reserved: 0, free: 0, turn: 0 },
      ...{ isChanged: false, isAsked: false, writing: undefined, busy: undefined, refused: undefined },
    };
    const kept = known === undefined ? held : asDeclared(Object.assign(known, { timeZone, period: present }), most);
    this.#held.set(place, kept);
    this.#current.set(id, kept);
    return kept;
  }

  #forget(held: Held): void {
    this.#held.delete(placeOf(held.id, held.period));
    if (this.#current.get(held.id) === held) this.#current.delete(held.id);
  }
}

/** Whole parts, as the ledger has them: sums are rounded up, and not each call. */
function whole(parts: number): number {
  return Math.min(Math.ceil(parts - NOISE), MOST_STORED);
}

/** Of a budget that is lowered nothing more is used that was granted before: what is left is asked for anew. */
function asDeclared(held: Held, most: number): Held {
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

/** In whose turn a budget is drawn from: what several teams share waits behind no team's many. */
function turnOf({ id, of }: OwnedBudget, { teamId }: KeyRecord): string {
  return of === "policy" ? id : teamId;
}

function placeOf(id: string, { name }: Period): string {
  return `${id} ${name}`;
}
