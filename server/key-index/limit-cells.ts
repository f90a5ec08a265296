import {
  chargeUsed,
  judgeRate,
  judgeRates,
  type RateLimit,
  type RateVerdict,
  rateCost,
} from "../../domain/access/rate-limit.ts";

/** Bits of a cell's number that count within one buffer; below, the number of cells in it. */
const CHUNK_BITS = 12;
const CHUNK = 2 ** CHUNK_BITS;
/**
 * Words of a cell: when the last request that was charged is paid off, and when the first one was charged by its owner.
 */
const [PAID_AT, SINCE, WORDS] = [0, 1, 2];

/** A cell, and the limit that is counted in it. */
export type CellLimit = {
  /** Number of the cell; 0 for none: nothing is counted then. */
  readonly cell: number;
  readonly limit: RateLimit;
  /** Number of requests that a charge counts as; 1 if it is left out. */
  readonly amount?: number | undefined;
};

/**
 * Amounts that have been spent of rate limits: one cell of shared memory for each key that has one, which all its
 * versions share, and one for each other owner. Cells are numbered from 1, and a cell never moves: there are more
 * buffers instead of larger ones.
 */
export class LimitCells {
  readonly #buffers: SharedArrayBuffer[] = [];
  readonly #chunks: BigInt64Array[] = [];
  #last = 0;
  readonly #free: number[] = [];

  get bytes(): number {
    return this.#chunks.length * CHUNK * WORDS * BigInt64Array.BYTES_PER_ELEMENT;
  }

  /** Buffers that the cells are in, in the order of their numbers. */
  get buffers(): readonly SharedArrayBuffer[] {
    return this.#buffers;
  }

  /** Adds the next buffer, of cells that another thread gives out. */
  add(buffer: SharedArrayBuffer): void {
    this.#buffers.push(buffer);
    this.#chunks.push(new BigInt64Array(buffer));
  }

  /** True if the cell's buffer is here. */
  has(cell: number): boolean {
    return cell >>> CHUNK_BITS < this.#chunks.length;
  }

  /** Takes a cell that owes nothing. */
  take(): number {
    const cell = this.#free.pop() ?? ++this.#last;
    if (!this.has(cell)) this.add(new SharedArrayBuffer(CHUNK * WORDS * BigInt64Array.BYTES_PER_ELEMENT));
    for (const word of [SINCE, PAID_AT]) Atomics.store(this.#chunkOf(cell), offsetOf(cell) + word, 0n);
    return cell;
  }

  giveBack(cell: number): void {
    this.#free.push(cell);
  }

  /**
   * Judges a request by what is in the cell, and charges it there if it is admitted. If several threads do so at once,
   * each is judged by what the others have charged.
   *
   * @param now nanoseconds on the clock that all threads share, which counts milliseconds: fractions are left out
   */
  charge(cell: number, limit: RateLimit, now: number, amount = 1): RateVerdict {
    const whole = Math.floor(now);
    for (;;) {
      const held = this.#heldIn(cell);
      const verdict = judgeRate(limit, Number(held), whole, amount);
      if (!verdict.admitted || this.#payOne(cell, held, verdict, whole)) return verdict;
    }
  }

  /**
   * Judges a request by several cells, and charges it to each if all admit it. If several threads do so at once, one of
   * them is always done; while a charge is being taken back, it may refuse the request of a third thread.
   *
   * @param now as of {@link charge}
   */
  chargeAll(limits: readonly CellLimit[], now: number): RateVerdict[] {
    const only = limits.length === 1 ? limits[0] : undefined;
    if (only !== undefined && only.cell !== 0) return [this.charge(only.cell, only.limit, now, only.amount)];
    for (;;) {
      const held = limits.map(({ cell }) => this.#heldIn(cell));
      const verdicts = this.#judge(limits, held, now);
      if (verdicts.some(({ admitted }) => !admitted)) return verdicts;
      if (this.#pay(limits, held, verdicts, Math.floor(now))) return verdicts;
    }
  }

  /** Returns what {@link chargeAll} would return for a request, and charges nothing. */
  judgeAll(limits: readonly CellLimit[], now: number): RateVerdict[] {
    return this.#judge(
      limits,
      limits.map(({ cell }) => this.#heldIn(cell)),
      now,
    );
  }

  /**
   * Takes back `unpaid` nanoseconds of a request that was charged; nothing if the cell was not charged by then, since
   * it has become another owner's, or its owner's anew.
   *
   * @param chargedAt time of the charge, as of {@link charge}
   */
  refund(cell: number, unpaid: number, chargedAt: number): void {
    if (cell === 0) return;
    const since = Atomics.load(this.#chunkOf(cell), offsetOf(cell) + SINCE);
    if (since !== 0n && chargedAt >= since) this.#takeBack(cell, unpaid);
  }

  #takeBack(cell: number, unpaid: number): void {
    Atomics.sub(this.#chunkOf(cell), offsetOf(cell) + PAID_AT, BigInt(Math.floor(unpaid)));
  }

  /** Charges what was used already, even if nothing is left of the limit. */
  chargeUsed({ cell, limit, amount = 1 }: CellLimit, now: number): void {
    if (cell === 0) return;
    const whole = Math.floor(now);
    for (;;) {
      const held = this.#heldIn(cell);
      if (this.#payOne(cell, held, { paidAt: chargeUsed(limit, Number(held), whole, amount) }, whole)) return;
    }
  }

  #heldIn(cell: number): bigint {
    return cell === 0 ? 0n : Atomics.load(this.#chunkOf(cell), offsetOf(cell) + PAID_AT);
  }

  #judge(limits: readonly CellLimit[], held: readonly bigint[], now: number): RateVerdict[] {
    const states = limits.map(({ limit, amount }, i) => ({ limit, amount, paidAt: Number(held[i]) }));
    return judgeRates(states, Math.floor(now));
  }

  /**
   * Charges all cells. Returns false if another thread has charged one of them since: then none of them has been
   * charged.
   */
  #pay(limits: readonly CellLimit[], held: readonly bigint[], verdicts: readonly RateVerdict[], now: number): boolean {
    for (const [i, { cell }] of limits.entries()) {
      const verdict = verdicts[i];
      if (cell === 0 || verdict === undefined || this.#payOne(cell, held[i] ?? 0n, verdict, now)) continue;
      for (const { cell: paid, limit, amount = 1 } of limits.slice(0, i)) {
        if (paid !== 0) this.#takeBack(paid, amount * rateCost(limit));
      }
      return false;
    }
    return true;
  }

  /** Charges a cell. Returns false if another thread has charged it since. */
  #payOne(cell: number, held: bigint, { paidAt }: Pick<RateVerdict, "paidAt">, now: number): boolean {
    const chunk = this.#chunkOf(cell);
    const offset = offsetOf(cell);
    if (Atomics.compareExchange(chunk, offset + PAID_AT, held, BigInt(paidAt)) !== held) return false;
    if (held === 0n) Atomics.store(chunk, offset + SINCE, BigInt(now));
    return true;
  }

  #chunkOf(cell: number): BigInt64Array {
    const chunk = this.#chunks[cell >>> CHUNK_BITS];
    if (chunk === undefined) throw new RangeError(`there is no cell ${cell}`);
    return chunk;
  }
}

/** Returns the position in its buffer at which a cell's words begin. */
function offsetOf(cell: number): number {
  return (cell & (CHUNK - 1)) * WORDS;
}
