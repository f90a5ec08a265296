import { getHeapStatistics } from "node:v8";
import type { Owner } from "./owner.ts";

/** How many bytes answers may hold at a time that have not left this thread. */
export type AnswerLimits = {
  /** Of one key, or of one principal of the management API and the console. */
  readonly key: number;
  /** Of one team; of all callers without a credential together. */
  readonly team: number;
  readonly process: number;
};

/** Whose bound is met. */
export type FullOf = "key" | "team" | "process";

/** What answers take of this thread. */
export type AnswerFigures = {
  readonly heldBytes: number;
  /** Calls that found no room. */
  readonly refused: number;
  /** Connections that were cut because their caller did not read. */
  readonly cut: number;
};

/** A page takes 1 MiB before it is made: each key has room for two, however small the heap is. */
const LEAST = 16 << 20;
/** Ticks after which a reader without progress goes where another wants its room: two seconds. */
export const GRACE_TICKS = 4;
/** After which it goes without that: five minutes. */
export const PATIENCE_TICKS = 600;
/** How long a tick is, in milliseconds. */
export const TICK_MS = 500;

/** @param threads that serve in this process, and share its memory */
export function answerLimits(threads: number): AnswerLimits {
  const process = Math.max(LEAST, Math.floor(getHeapStatistics().heap_size_limit / 4 / threads));
  return { key: Math.floor(process / 8), team: Math.floor(process / 4), process };
}

type Account = { readonly id: string; readonly of: FullOf; readonly limit: number; held: number; answers: number };

/** What one answer holds: from before it is made until it has left, or its connection has ended. */
export class HeldAnswer {
  readonly accounts: readonly Account[];
  readonly cut: () => void;
  held = 0;
  /** Pieces that were handed out and have not left. */
  pending = 0;
  /** The tick of its last progress. */
  since = 0;
  hasEnded = false;
  readonly #room: AnswerRoom;

  constructor(room: AnswerRoom, accounts: readonly Account[], cut: () => void) {
    this.#room = room;
    this.accounts = accounts;
    this.cut = cut;
  }

  /**
   * Holds so many bytes from here on, no more and no fewer.
   *
   * @returns whose bound that would break, and then it holds what it did; undefined for none
   */
  settle(bytes: number): FullOf | undefined {
    return this.#room.settle(this, bytes);
  }

  /** A piece is handed out: from here on its reader is waited for. */
  send(): void {
    this.#room.send(this);
  }

  /** A piece has left, and so many bytes are held no more. */
  progress(bytes: number): void {
    this.#room.progress(this, bytes);
  }

  /** Gives back all that is still held. */
  end(): void {
    this.#room.end(this);
  }
}

/**
 * The room that answers share: taken before they are made, given back as they leave (threats b109). Where there is none,
 * the readers go that have made no progress for longest.
 *
 * Time goes by ticks that the event loop takes: while it stands still, so does every answer, and no reader is late.
 */
export class AnswerRoom {
  readonly limits: AnswerLimits;
  readonly #process: Account;
  readonly #accounts = new Map<string, Account>();
  /** Whose pieces are out, the one first that has made no progress for longest. */
  readonly #readers = new Set<HeldAnswer>();
  #now = 0;
  #refused = 0;
  #cut = 0;

  constructor(limits: AnswerLimits) {
    this.limits = limits;
    this.#process = { id: "process", of: "process", limit: limits.process, held: 0, answers: 0 };
  }

  figures(): AnswerFigures {
    return { heldBytes: this.#process.held, refused: this.#refused, cut: this.#cut };
  }

  /**
   * Takes room for an answer.
   *
   * @param cut ends its connection, where its reader is one that goes
   */
  take(owner: Owner, bytes: number, cut: () => void): HeldAnswer | FullOf {
    const accounts = [...this.#ownAccounts(owner), this.#process];
    const full = this.#makeRoom(accounts, bytes);
    if (full !== undefined) return full;
    const answer = new HeldAnswer(this, accounts, cut);
    for (const account of accounts) {
      account.answers++;
      if (account !== this.#process) this.#accounts.set(account.id, account);
    }
    this.#add(answer, bytes);
    return answer;
  }

  settle(answer: HeldAnswer, bytes: number): FullOf | undefined {
    if (answer.hasEnded) return undefined;
    const more = bytes - answer.held;
    const full = more > 0 ? this.#makeRoom(answer.accounts, more, answer) : undefined;
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

  /** To be called each {@link TICK_MS}: cuts the readers that have made no progress for too long. */
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
    // It is not one caller's doing, nor theirs to mend.
    if (key === null && team === null) accounts.push(this.#account("no credential", "process", this.limits.team));
    return accounts;
  }

  #account(id: string, of: FullOf, limit: number): Account {
    return this.#accounts.get(id) ?? { id, of, limit, held: 0, answers: 0 };
  }

  /** Cuts the readers whose room is needed; none of them where that would not do. */
  #makeRoom(accounts: readonly Account[], bytes: number, asker?: HeldAnswer): FullOf | undefined {
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
