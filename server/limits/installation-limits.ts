import { cellState, type DrawnRequests, type LimitDraw, requestCost } from "../../domain/access/limit-draw.ts";
import { judgeRate, type RateLimit, type RateVerdict } from "../../domain/access/rate-limit.ts";
import { DrawTurns, LateTurnError } from "./draw-turns.ts";

/** Requests are drawn for so long at a time: what is not used by then is given back. */
export const PERIOD_MS = 1_000;
/** A cell that had too little is asked again after this at the earliest, or when half of its burst is there again. */
const AGAIN_MS = 100;
/** A request waits for the database so long at most, and the next ones do not wait for this long. */
const ANSWER_MS = 500;
const AWAY_MS = 1_000;
/** More is drawn ahead where what is held lasts for less than this part of a period. */
const ENOUGH = 0.25;
const MINUTE_MS = 60_000;
/** Of a microsecond and of a nanosecond, in a millisecond. */
const MICROSECONDS = 1e3;
const NANOSECONDS = 1e6;

type InstallationLimitsDeps = {
  /**
   * Draws from the cells that all replicas share, of which none is there twice. Nothing comes of those that another
   * transaction has locked.
   */
  readonly draw: (draws: readonly LimitDraw[]) => Promise<ReadonlyMap<string, DrawnRequests>>;
  /** Among how many threads, of all replicas, a limit is divided while the database does not answer. */
  readonly threads: () => number;
  /** Milliseconds on a clock that never goes back. */
  readonly monotonic: () => number;
};

/** A limit whose cell all replicas share. */
export type DrawnLimit = {
  readonly limitId: string;
  /** In whose turns the cell is drawn from. */
  readonly teamId: string;
  readonly limit: RateLimit;
};

/** What this thread knows of a limit. Times are milliseconds by its own clock, but for what `last` says. */
type Held = DrawnLimit & {
  limit: RateLimit;
  /** Requests that were drawn and not made yet. */
  requests: number;
  /** Requests that wait for the cell's answer, and as how many they count. */
  waiting: number;
  waitingFor: number;
  /** What is to be charged after the calls, or given back where it is negative, and whether that is on its way. */
  toSettle: number;
  isSettling: boolean;
  /** Requests that there were in this period, refused ones too, and how many one is expected to have. */
  asked: number;
  expected: number;
  last: { readonly drawn: DrawnRequests; readonly at: number } | undefined;
  /** Until then the cell has nothing, and is not asked. */
  emptyUntil: number;
  /** Until then another transaction has the cell locked, and this thread's part holds. */
  lockedUntil: number;
  /** Of this thread's part: nanoseconds, as `judgeRate` has it. */
  paidAt: number;
  drawing: Promise<void> | undefined;
  /** What was last asked of the cell, until it is answered: a statement has each cell once. */
  sent: Promise<void> | undefined;
};

/**
 * Limits that hold for the whole installation: each has one cell in the database, from which a thread draws the
 * requests that it expects within a second, so that few of them wait for the database. What a second leaves over goes
 * back. A thread that dies loses what it held.
 */
export class InstallationLimits {
  readonly #deps: InstallationLimitsDeps;
  readonly #limits = new Map<string, Held>();
  readonly #turns: DrawTurns<LimitDraw, DrawnRequests | null>;
  /** Until then the database is not asked, and this thread's part of each limit holds. */
  #awayUntil = 0;

  constructor(deps: InstallationLimitsDeps) {
    this.#deps = deps;
    const ask = async (draws: readonly LimitDraw[]) => {
      const cells = await deps.draw(draws);
      return draws.map(({ limitId }) => cells.get(limitId) ?? null);
    };
    this.#turns = new DrawTurns({ ask, answerMs: ANSWER_MS });
  }

  /** How many limits anything is known of. */
  get size(): number {
    return this.#limits.size;
  }

  /**
   * Judges a request, and counts it where it is admitted: at once, but where its cell has to be asked.
   *
   * @param mostWaiting requests that wait for the cell at once: more are refused
   * @param amount as how many requests it counts
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

  /** Takes back one request that was charged: the next one has it, or the cell once the period has ended. */
  refund(limitId: string, amount = 1): void {
    const held = this.#limits.get(limitId);
    if (held === undefined) return;
    held.requests += amount;
    held.asked = Math.max(0, held.asked - amount);
  }

  /**
   * Charges what was used beyond what a request was charged, also where the cell has nothing left; or gives back what
   * was not used, where that is negative. What the database does not take is tried again at the end of the period.
   */
  settle(drawn: DrawnLimit, more: number): void {
    const held = this.#heldOf(drawn);
    held.toSettle += more;
    this.#settle(held);
  }

  #settle(held: Held): void {
    if (held.isSettling || held.toSettle === 0) return;
    held.isSettling = true;
    let wanted = 0;
    const sent = this.#send(held, () => {
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
        if (!this.#isAway(held, this.#deps.monotonic())) this.#settle(held);
      });
  }

  /** What a limit that has been charged before has left. */
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
      if (!this.#isAway(held, now)) {
        this.#giveBack(held, held.requests - held.expected);
        this.#settle(held);
      }
      const isAsking = held.toSettle !== 0 || held.sent !== undefined;
      const isBusy = isAsking || held.expected > 0 || held.requests > 0;
      const until = Math.max(held.emptyUntil, held.lockedUntil, held.paidAt / NANOSECONDS);
      if (!isBusy && until <= now) this.#limits.delete(limitId);
    }
  }

  /** What cannot be given back is lost. */
  #giveBack(held: Held, spare: number): void {
    if (spare <= 0) return;
    held.requests -= spare;
    this.#send(held, () => ({ wanted: -spare })).catch(() => {});
  }

  #heldOf({ limitId, teamId, limit }: DrawnLimit): Held {
    const known = this.#limits.get(limitId);
    if (known !== undefined) {
      const { requestsPerMinute, burst } = known.limit;
      // What was too much by the limit of before may be had by this one.
      if (requestsPerMinute !== limit.requestsPerMinute || burst !== limit.burst) known.emptyUntil = 0;
      known.limit = limit;
      return known;
    }
    const nothing = {
      requests: 0,
      waiting: 0,
      waitingFor: 0,
      toSettle: 0,
      isSettling: false,
      asked: 0,
      expected: 0,
      emptyUntil: 0,
      lockedUntil: 0,
      paidAt: 0,
    };
    const unasked = { last: undefined, drawing: undefined, sent: undefined };
    const held: Held = { limitId, teamId, limit, ...nothing, ...unasked };
    this.#limits.set(limitId, held);
    return held;
  }

  /** By what is known here; undefined where the cell has to be asked. */
  #judge(held: Held, amount: number): RateVerdict | undefined {
    const now = this.#deps.monotonic();
    if (held.requests >= amount) {
      held.requests -= amount;
      const isScarce = held.requests < held.expected * ENOUGH && this.#wantedOf(held) > 1;
      if (isScarce && now >= held.emptyUntil && !this.#isAway(held, now)) this.#draw(held);
      return verdictOf(held, true, now);
    }
    if (this.#isAway(held, now)) return this.#judgePart(held, now, amount);
    return now < held.emptyUntil ? verdictOf(held, false, now, amount) : undefined;
  }

  async #judgeDrawn(held: Held, amount: number): Promise<RateVerdict> {
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

  /** Whether the cell is not asked: the database does not answer, or another transaction has the cell locked. */
  #isAway({ lockedUntil }: Held, now: number): boolean {
    return now < this.#awayUntil || now < lockedUntil;
  }

  /** What a thread may admit by itself while the cell is not asked. */
  #partOf({ requestsPerMinute, burst, ...counted }: RateLimit): RateLimit {
    const threads = this.#deps.threads();
    return {
      ...counted,
      requestsPerMinute: requestsPerMinute / threads,
      burst: Math.max(1, Math.floor(burst / threads)),
    };
  }

  #judgePart(held: Held, now: number, amount: number): RateVerdict {
    const part = this.#partOf(held.limit);
    const verdict = judgeRate(part, held.paidAt, now * NANOSECONDS, Math.min(amount, part.burst));
    held.paidAt = verdict.paidAt;
    return verdict;
  }

  /**
   * What is to be drawn: for who waits, and for what is expected within a period. Nothing ahead where the limit admits
   * less than one request a second and thread: others would be refused for long what this one only expects.
   */
  #wantedOf({ limit, requests, waitingFor, asked, expected }: Held): number {
    const isFrequent = (limit.requestsPerMinute * PERIOD_MS) / MINUTE_MS >= this.#deps.threads();
    const ahead = isFrequent ? Math.max(expected, asked) - requests : 0;
    return Math.max(1, waitingFor - requests, ahead);
  }

  /** Asks the cell, once at a time. */
  #draw(held: Held): Promise<void> {
    held.drawing ??= this.#drawNow(held).finally(() => {
      held.drawing = undefined;
    });
    return held.drawing;
  }

  async #drawNow(held: Held): Promise<void> {
    let wanted = 0;
    let drawn: DrawnRequests;
    try {
      drawn = await this.#send(held, () => {
        // For those too who began to wait while the statement before this one was under way.
        wanted = this.#wantedOf(held);
        return { wanted };
      });
    } catch {
      // The replica reports a database that does not answer.
      return;
    }
    const now = this.#deps.monotonic();
    const { limit } = held;
    held.last = { drawn, at: now };
    // The cell has the burst: of the part, only what comes while it is not asked is to be had.
    const part = this.#partOf(limit);
    const burstMs = (requestCost(part) * part.burst) / MICROSECONDS;
    held.paidAt = (now + Math.min(burstMs, MINUTE_MS)) * NANOSECONDS;
    held.requests += drawn.granted;
    if (drawn.granted === wanted) return;
    const { retryAfter } = cellState(limit, drawn.paidAt, drawn.now);
    if (limit.unit !== undefined) {
      // Whenever a call has ended there may be more.
      held.emptyUntil = now + AGAIN_MS;
      return;
    }
    const halfBurst = (limit.burst * requestCost(limit)) / 2;
    held.emptyUntil = now + Math.max(retryAfter, Math.min(AGAIN_MS * MICROSECONDS, halfBurst)) / MICROSECONDS;
  }

  /** Resolves with what the cell gave, or has the database away, or the cell locked or without anything for now. */
  #send(held: Held, draw: () => Pick<LimitDraw, "wanted" | "areUsed">): Promise<DrawnRequests> {
    const before = held.sent ?? Promise.resolve();
    const answer = before.then(() => this.#sendNow(held, draw));
    const over = (): void => {
      if (held.sent === sent) held.sent = undefined;
    };
    const sent = answer.then(over, over);
    held.sent = sent;
    return answer;
  }

  async #sendNow(held: Held, draw: () => Pick<LimitDraw, "wanted" | "areUsed">): Promise<DrawnRequests> {
    // One wait is enough: who waits behind it has the part.
    if (this.#isAway(held, this.#deps.monotonic())) throw new Error("the cell did not answer");
    const { limitId, teamId } = held;
    try {
      const drawn = await this.#turns.draw(teamId, () => ({ limitId, limit: held.limit, ...draw() }));
      if (drawn === null) throw new LockedCellError();
      return drawn;
    } catch (error) {
      const now = this.#deps.monotonic();
      // The others have been drawn from.
      if (error instanceof LockedCellError) held.lockedUntil = now + AWAY_MS;
      // A team that asks for too much at once has no part beside it.
      else if (error instanceof LateTurnError && error.isOwn) held.emptyUntil = now + AGAIN_MS;
      else this.#awayUntil = now + AWAY_MS;
      throw error;
    }
  }
}

/** Another transaction has the cell locked: nothing was drawn. */
class LockedCellError extends Error {
  constructor() {
    super("another transaction has the cell locked");
    this.name = "LockedCellError";
  }
}

/** By what the cell had when it was last asked, and what is held. */
function verdictOf(
  { limit, last, requests, emptyUntil }: Held,
  admitted: boolean,
  now: number,
  amount = 1,
): RateVerdict {
  if (last === undefined) {
    return { admitted, paidAt: 0, remaining: requests, retryAfter: AGAIN_MS * NANOSECONDS, resetAfter: 0 };
  }
  const cellNow = last.drawn.now + (now - last.at) * MICROSECONDS;
  const missing = Math.max(1, amount - requests);
  const { remaining, retryAfter, resetAfter } = cellState(limit, last.drawn.paidAt, cellNow, missing);
  const wait = limit.unit === undefined ? emptyUntil - now : retryAfter / MICROSECONDS;
  return {
    admitted,
    paidAt: 0,
    remaining: admitted ? remaining + requests : 0,
    retryAfter: admitted ? 0 : Math.max(wait, AGAIN_MS) * NANOSECONDS,
    resetAfter: resetAfter * MICROSECONDS,
  };
}
