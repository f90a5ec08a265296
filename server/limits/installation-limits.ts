import type { DrawnRequests } from "../../domain/access/limit-draw.ts";
import type { RateVerdict } from "../../domain/access/rate-limit.ts";
import { DrawnCells, type DrawnCellsDeps, LockedCellError } from "./drawn-cells.ts";
import {
  type DrawnLimit,
  type HeldLimit,
  judgePart,
  knownUntil,
  requestsWanted,
  takeDrawn,
  unaskedLimit,
  verdictOf,
} from "./held-limit.ts";

/** Part of a period: if what is held lasts for less, more is drawn ahead. */
const ENOUGH = 0.25;

type InstallationLimitsDeps = DrawnCellsDeps & {
  /**
   * Returns the number of threads, of all replicas, that a limit is divided among while the database does not answer.
   */
  readonly threads: () => number;
};

/**
 * Limits that hold for the whole installation: each has one cell in the database, from which a thread draws the
 * requests that it expects within a second, so that few of them wait for the database. What a second leaves over goes
 * back. A thread that dies loses what it held.
 */
export class InstallationLimits {
  readonly #deps: InstallationLimitsDeps;
  readonly #limits = new Map<string, HeldLimit>();
  readonly #cells: DrawnCells;

  constructor(deps: InstallationLimitsDeps) {
    this.#deps = deps;
    this.#cells = new DrawnCells(deps);
  }

  /** Number of limits of which anything is known. */
  get size(): number {
    return this.#limits.size;
  }

  /**
   * Judges a request, and counts it if it is admitted: at once, unless its cell has to be asked.
   *
   * @param mostWaiting number of requests that may wait for the cell at once: more are refused
   * @param amount number of requests that it counts as
   */
  charge(drawn: DrawnLimit, mostWaiting: number, amount = 1): RateVerdict | Promise<RateVerdict> {
    const held = this.#heldOf(drawn);
    // Calls use tokens in amounts so different that none are drawn ahead.
    if (held.limit.unit === undefined) held.asked += amount;
    const known = this.#judge(held, amount);
    if (known !== undefined) return known;
    if (held.waiting >= mostWaiting) return verdictOf(held, false, this.#deps.monotonic(), amount);
    return this.#judgeDrawn(held, amount);
  }

  /** Takes back one request that was charged: the next request has it, or the cell once the period has ended. */
  refund(limitId: string, amount = 1): void {
    const held = this.#limits.get(limitId);
    if (held === undefined) return;
    held.requests += amount;
    held.asked = Math.max(0, held.asked - amount);
  }

  /**
   * Charges what was used beyond what a request was charged, even if the cell has nothing left; or gives back what was
   * not used, if `more` is negative. While the cell cannot be asked, the amount waits for the end of a period; an
   * amount in a statement that fails is lost.
   */
  settle(drawn: DrawnLimit, more: number): void {
    const held = this.#heldOf(drawn);
    held.toSettle += more;
    this.#settle(held);
  }

  #settle(held: HeldLimit): void {
    if (held.isSettling || held.toSettle === 0) return;
    held.isSettling = true;
    let wanted = 0;
    const sent = this.#cells.ask(held, () => {
      wanted = held.toSettle;
      held.toSettle = 0;
      return { wanted, areUsed: true };
    });
    sent
      .then((drawn) => {
        held.last = { drawn, at: this.#deps.monotonic() };
        held.emptyUntil = 0;
      })
      .catch((error) => {
        // What else was on its way is lost.
        if (error instanceof LockedCellError) held.toSettle += wanted;
      })
      .finally(() => {
        held.isSettling = false;
        if (!this.#cells.isAway(held, this.#deps.monotonic())) this.#settle(held);
      });
  }

  /** Returns what a limit that has been charged before has left. */
  rest(drawn: DrawnLimit): RateVerdict {
    return verdictOf(this.#heldOf(drawn), true, this.#deps.monotonic());
  }

  /** Begins the next period, and gives back what this one has left over. To be called every {@link PERIOD_MS}. */
  endPeriod(): void {
    const now = this.#deps.monotonic();
    for (const [limitId, held] of this.#limits) {
      // What there was in one period is expected of the next; what was more in the one before fades.
      held.expected = Math.max(held.asked, Math.floor((held.expected + held.asked) / 2));
      held.asked = 0;
      if (!this.#cells.isAway(held, now)) {
        this.#giveBack(held, held.requests - held.expected);
        this.#settle(held);
      }
      const isAsking = held.toSettle !== 0 || held.sent !== undefined;
      const isBusy = isAsking || held.expected > 0 || held.requests > 0;
      if (!isBusy && knownUntil(held) <= now) this.#limits.delete(limitId);
    }
  }

  /** Gives back what is not needed; what cannot be given back is lost. */
  #giveBack(held: HeldLimit, spare: number): void {
    if (spare <= 0) return;
    held.requests -= spare;
    this.#cells.ask(held, () => ({ wanted: -spare })).catch(() => {});
  }

  #heldOf({ limitId, teamId, limit }: DrawnLimit): HeldLimit {
    const known = this.#limits.get(limitId);
    if (known !== undefined) {
      const { requestsPerMinute, burst } = known.limit;
      // What was too much by the limit of before may be had by this one.
      if (requestsPerMinute !== limit.requestsPerMinute || burst !== limit.burst) known.emptyUntil = 0;
      known.limit = limit;
      return known;
    }
    const held = unaskedLimit({ limitId, teamId, limit });
    this.#limits.set(limitId, held);
    return held;
  }

  /** Judges a request by what is known here; undefined if the cell has to be asked. */
  #judge(held: HeldLimit, amount: number): RateVerdict | undefined {
    const now = this.#deps.monotonic();
    if (held.requests >= amount) {
      held.requests -= amount;
      const isScarce = held.requests < held.expected * ENOUGH && requestsWanted(held, this.#deps.threads()) > 1;
      if (isScarce && now >= held.emptyUntil && !this.#cells.isAway(held, now)) this.#draw(held);
      return verdictOf(held, true, now);
    }
    if (this.#cells.isAway(held, now)) return judgePart(held, amount, now, this.#deps.threads());
    return now < held.emptyUntil ? verdictOf(held, false, now, amount) : undefined;
  }

  async #judgeDrawn(held: HeldLimit, amount: number): Promise<RateVerdict> {
    held.waiting++;
    held.waitingFor += amount;
    try {
      for (;;) {
        await this.#draw(held);
        const verdict = this.#judge(held, amount);
        // Undefined where others that waited have taken all that the cell gave.
        if (verdict !== undefined) return verdict;
      }
    } finally {
      held.waiting--;
      held.waitingFor -= amount;
      // What is too little for those that waited may be enough for others.
      if (held.limit.unit !== undefined && held.waiting === 0) this.#giveBack(held, held.requests);
    }
  }

  /** Asks the cell, one question at a time. */
  #draw(held: HeldLimit): Promise<void> {
    held.drawing ??= this.#drawNow(held).finally(() => {
      held.drawing = undefined;
    });
    return held.drawing;
  }

  async #drawNow(held: HeldLimit): Promise<void> {
    let wanted = 0;
    let drawn: DrawnRequests;
    try {
      drawn = await this.#cells.ask(held, () => {
        // For those too who began to wait while the statement before this one was under way.
        wanted = requestsWanted(held, this.#deps.threads());
        return { wanted };
      });
    } catch {
      // The replica reports a database that does not answer.
      return;
    }
    takeDrawn(held, { drawn, wanted, now: this.#deps.monotonic(), threads: this.#deps.threads() });
  }
}
