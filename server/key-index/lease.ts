import type { Clock } from "../../runtime/clock.ts";

/**
 * Milliseconds that the wall clock may move against the monotonic one: more is a machine that was suspended, or a clock
 * that jumped.
 */
const MAX_JUMP_MS = 1_000;
/** Milliseconds that expiry may be decided off the database's time (threats c39). */
const MAX_CLOCK_ERROR_MS = 1_000;

/**
 * Cells of a lease: when the head was asked for; how far the wall clock was, and the database's is, from the monotonic
 * one; and how long that answer holds.
 */
const [ASKED_AT, WALL_OFFSET, DATABASE_OFFSET, LENGTH, CELLS] = [0, 1, 2, 3, 4];

/**
 * Time for which a replica's index counts as current, and the time by the database's clock. Both run on the monotonic
 * clock from the moment at which the database was asked, so that a wall clock which is set neither lengthens the lease
 * nor revives an expired key.
 */
export class Lease {
  readonly #clock: Clock;
  readonly #cells: Float64Array;

  private constructor(clock: Clock, cells: Float64Array) {
    this.#clock = clock;
    this.#cells = cells;
  }

  /**
   * Returns a lease that has run out.
   *
   * @param cells memory in which it is kept, for other threads to {@link read}
   */
  static begin(clock: Clock, cells: Float64Array = new Float64Array(CELLS)): Lease {
    const lease = new Lease(clock, cells);
    lease.end();
    cells[DATABASE_OFFSET] = clock.now() - clock.monotonic();
    return lease;
  }

  /**
   * Returns the lease that another thread renews.
   *
   * @param clock its monotonic time is the same on all threads
   */
  static read(clock: Clock, cells: Float64Array): Lease {
    return new Lease(clock, cells);
  }

  /** Takes a moment to renew from: take it before asking. */
  moment(): LeaseMoment {
    const monotonic = this.#clock.monotonic();
    return { monotonic, wallOffset: this.#clock.now() - monotonic };
  }

  /**
   * Renews the lease: everything up to the head that was asked for at `moment` is applied.
   *
   * @param lengthMs milliseconds that this holds
   */
  renew(moment: LeaseMoment, lengthMs: number): void {
    this.#cells[WALL_OFFSET] = moment.wallOffset;
    this.#cells[LENGTH] = lengthMs;
    this.#cells[ASKED_AT] = moment.monotonic;
  }

  /**
   * Sets the clock that expiry is decided by: early by the question's round trip at most, and by no more than a second.
   */
  setDatabaseTime(moment: LeaseMoment, databaseNow: number): void {
    const roundTrip = this.#clock.monotonic() - moment.monotonic;
    const excess = Math.min(Math.max(0, roundTrip - MAX_CLOCK_ERROR_MS), MAX_CLOCK_ERROR_MS);
    this.#cells[DATABASE_OFFSET] = databaseNow - moment.monotonic - excess;
  }

  end(): void {
    this.#cells[ASKED_AT] = Number.NEGATIVE_INFINITY;
  }

  /** Returns the milliseconds since the head was asked for. */
  age(): number {
    return this.#clock.monotonic() - this.#cell(ASKED_AT);
  }

  /** Returns the milliseconds until it is over, unless it is renewed; 0 or less if it is over. */
  remaining(): number {
    return this.#cell(LENGTH) - this.age();
  }

  holds(): boolean {
    const monotonic = this.#clock.monotonic();
    const isYoung = monotonic - this.#cell(ASKED_AT) < this.#cell(LENGTH);
    return isYoung && Math.abs(this.#clock.now() - monotonic - this.#cell(WALL_OFFSET)) <= MAX_JUMP_MS;
  }

  /** Returns the milliseconds since the epoch by the database's clock, as far as this replica can know. */
  now(): number {
    return this.#clock.monotonic() + this.#cell(DATABASE_OFFSET);
  }

  #cell(cell: number): number {
    return this.#cells[cell] ?? Number.NaN;
  }
}

/** Moment at which a question was put: on the monotonic clock, and how far the wall clock was from it. */
type LeaseMoment = { readonly monotonic: number; readonly wallOffset: number };
