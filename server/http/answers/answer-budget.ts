import { getHeapStatistics } from "node:v8";
import type { Owner } from "./owner.ts";

/** Limits in bytes on what unsent answers hold at a time in this thread. */
export type AnswerLimits = {
  /** Limit of a key, or of a principal of the management API and the console. */
  readonly key: number;
  /** Limit of a team; also of all callers without a credential together. */
  readonly team: number;
  readonly thread: number;
};

/** Owner of the limit that is reached. */
export type FullOf = "key" | "team" | "process";

/** Figures of the answers of this thread. */
export type AnswerFigures = {
  readonly heldBytes: number;
  /** Number of calls whose answer found no memory budget. */
  readonly refused: number;
  /** Number of connections that were cut because their caller did not read. */
  readonly cut: number;
};

/**
 * Minimum budget of a thread in bytes. A page takes 1 MiB before it is made: each key has the budget for two, however
 * small the heap is.
 */
const LEAST = 16 << 20;
/** Ticks without progress after which a reader is cut if another answer needs its budget: two seconds. */
export const GRACE_TICKS = 4;
/** Ticks without progress after which a reader is cut in any case: five minutes. */
export const PATIENCE_TICKS = 600;
/** Length of a tick in milliseconds. */
export const TICK_MS = 500;

/**
 * Returns the limits of a thread, from the size of its heap. @param threads number of threads that serve in this
 * process and share its memory
 */
export function answerLimits(threads: number): AnswerLimits {
  const thread = Math.max(LEAST, Math.floor(getHeapStatistics().heap_size_limit / 4 / threads));
  return { key: Math.floor(thread / 8), team: Math.floor(thread / 4), thread };
}

type Account = { readonly id: string; readonly of: FullOf; readonly limit: number; held: number; answers: number };

/** Memory budget that an answer holds: from before it is made until it has left, or its connection has ended. */
export class HeldAnswer {
  readonly accounts: readonly Account[];
  readonly cut: () => void;
  held = 0;
  /** Number of pieces that were handed out and have not left. */
  pending = 0;
  /** Tick of its last progress. */
  since = 0;
  hasEnded = false;
  readonly #budget: AnswerBudget;

  constructor(budget: AnswerBudget, accounts: readonly Account[], cut: () => void) {
    this.#budget = budget;
    this.accounts = accounts;
    this.cut = cut;
  }

  /**
   * Holds exactly so many bytes from here on.
   *
   * @returns owner of the limit that this would exceed, in which case nothing changes; undefined if it fits
   */
  settle(bytes: number): FullOf | undefined {
    return this.#budget.settle(this, bytes);
  }

  /** Notes that a piece is handed out: from here on the answer waits for its reader. */
  send(): void {
    this.#budget.send(this);
  }

  /** Notes that a piece has left, and gives back so many bytes. */
  progress(bytes: number): void {
    this.#budget.progress(this, bytes);
  }

  /** Gives back all bytes that it still holds. */
  end(): void {
    this.#budget.end(this);
  }
}

/**
 * Memory budget that answers share: taken before they are made, given back as they leave (threats b109). When it is
 * used up, the readers without progress for the longest time are cut.
 *
 * Time is measured in ticks that the event loop takes: while the loop stands still, so does every answer, and no reader
 * is late.
 */
export class AnswerBudget {
  readonly limits: AnswerLimits;
  readonly #thread: Account;
  readonly #accounts = new Map<string, Account>();
  /** Answers with pieces handed out, ordered by the time without progress, the longest first. */
  readonly #readers = new Set<HeldAnswer>();
  #now = 0;
  #refused = 0;
  #cut = 0;

  constructor(limits: AnswerLimits) {
    this.limits = limits;
    this.#thread = { id: "process", of: "process", limit: limits.thread, held: 0, answers: 0 };
  }

  figures(): AnswerFigures {
    return { heldBytes: this.#thread.held, refused: this.#refused, cut: this.#cut };
  }

  /**
   * Takes budget for an answer.
   *
   * @param cut ends the answer's connection if its reader is to be cut
   * @returns owner of the limit that is reached, if the budget does not suffice
   */
  take(owner: Owner, bytes: number, cut: () => void): HeldAnswer | FullOf {
    const accounts = [...this.#ownAccounts(owner), this.#thread];
    const full = this.#freeBudget(accounts, bytes);
    if (full !== undefined) return full;
    const answer = new HeldAnswer(this, accounts, cut);
    for (const account of accounts) {
      account.answers++;
      if (account !== this.#thread) this.#accounts.set(account.id, account);
    }
    this.#add(answer, bytes);
    return answer;
  }

  settle(answer: HeldAnswer, bytes: number): FullOf | undefined {
    if (answer.hasEnded) return undefined;
    const more = bytes - answer.held;
    const full = more > 0 ? this.#freeBudget(answer.accounts, more, answer) : undefined;
    if (full === undefined) this.#add(answer, more);
    return full;
  }

  send(answer: HeldAnswer): void {
    if (answer.hasEnded) return;
    if (answer.pending++ > 0) return;
    answer.since = this.#now;
    this.#readers.add(answer);
  }

  progress(answer: HeldAnswer, bytes: number): void {
    if (answer.hasEnded) return;
    this.#add(answer, -Math.min(bytes, answer.held));
    answer.since = this.#now;
    this.#readers.delete(answer);
    if (--answer.pending > 0) this.#readers.add(answer);
  }

  end(answer: HeldAnswer): void {
    if (answer.hasEnded) return;
    answer.hasEnded = true;
    this.#add(answer, -answer.held);
    this.#readers.delete(answer);
    for (const account of answer.accounts) {
      if (--account.answers === 0) this.#accounts.delete(account.id);
    }
  }

  /** Cuts the readers without progress for too long. To be called each {@link TICK_MS}. */
  tick(): void {
    this.#now++;
    for (const answer of this.#readers) {
      if (this.#now - answer.since < PATIENCE_TICKS) break;
      this.#cutOff(answer);
    }
  }

  #ownAccounts({ key, team }: Owner): Account[] {
    const accounts = key === null ? [] : [this.#account(`key ${key}`, "key", this.limits.key)];
    if (team !== null) accounts.push(this.#account(`team ${team}`, "team", this.limits.team));
    // Counts as the process's limit (503): no single caller causes it, or can mend it.
    if (key === null && team === null) accounts.push(this.#account("no credential", "process", this.limits.team));
    return accounts;
  }

  #account(id: string, of: FullOf, limit: number): Account {
    return this.#accounts.get(id) ?? { id, of, limit, held: 0, answers: 0 };
  }

  /** Frees budget by cutting readers; cuts none if that would not be enough. */
  #freeBudget(accounts: readonly Account[], bytes: number, asker?: HeldAnswer): FullOf | undefined {
    const going = new Set<HeldAnswer>();
    for (const account of accounts) {
      let missing = account.held + bytes - account.limit;
      if (missing <= 0) continue;
      for (const answer of going) {
        if (answer.accounts.includes(account)) missing -= answer.held;
      }
      for (const answer of this.#readers) {
        if (missing <= 0 || this.#now - answer.since < GRACE_TICKS) break;
        if (answer === asker || going.has(answer) || !answer.accounts.includes(account)) continue;
        going.add(answer);
        missing -= answer.held;
      }
      if (missing > 0) {
        this.#refused++;
        return account.of;
      }
    }
    for (const answer of going) this.#cutOff(answer);
    return undefined;
  }

  #cutOff(answer: HeldAnswer): void {
    this.#cut++;
    this.end(answer);
    answer.cut();
  }

  #add(answer: HeldAnswer, bytes: number): void {
    answer.held += bytes;
    for (const account of answer.accounts) account.held += bytes;
  }
}
