import {
  chargeUsed,
  judgeRate,
  judgeRates,
  type RateLimit,
  type RateVerdict,
  rateCost,
} from "../../domain/access/rate-limit.ts";

/** Cells in one buffer. */
const CHUNK_BITS = 12;
const CHUNK = 2 ** CHUNK_BITS;

/** A cell, and the limit that is counted in it. */
export type CellLimit = {
  /** 0 for none: nothing is counted then. */
  readonly cell: number;
  readonly limit: RateLimit;
  /** As how many requests one counts that is charged to it; 1 where it is left out. */
  readonly amount?: number | undefined;
};

/**
 * What has been spent of rate limits: one cell of shared memory for each key that has one, which all its versions share,
 * and one for each other owner. Cells are numbered from 1, and a cell never moves: there are more buffers instead of larger ones.
 */
export class LimitCells {
  readonly #buffers: SharedArrayBuffer[] = [];
  readonly #chunks: BigInt64Array[] = [];
  #last = 0;
  readonly #free: number[] = [];

  get bytes(): number {
    return this.#chunks.length * CHUNK * BigInt64Array.BYTES_PER_ELEMENT;
  }

  /** What the cells are in, in the order of their numbers. */
  get buffers(): readonly SharedArrayBuffer[] {
    return this.#buffers;
  }

  /** Takes in the next buffer, of cells that another thread gives out. */
  add(buffer: SharedArrayBuffer): void {
    this.#buffers.push(buffer);
    this.#chunks.push(new BigInt64Array(buffer));
  }

  /** Whether the cell's buffer is here. */
  has(cell: number): boolean {
    return cell >>> CHUNK_BITS < this.#chunks.length;
  }

  /** A cell that owes nothing. */
  take(): number {
    const cell = this.#free.pop() ?? ++this.#last;
    if (!this.has(cell)) this.add(new SharedArrayBuffer(CHUNK * BigInt64Array.BYTES_PER_ELEMENT));
    Atomics.store(this.#chunkOf(cell), cell & (CHUNK - 1), 0n);
    return cell;
  }

  giveBack(cell: number): void {
    this.#free.push(cell);
  }

  /**
   * Judges a request by what is in the cell, and charges it there when it is admitted. Of threads that do so at once
   * each is judged by what the others have charged.
   *
   * @param now nanoseconds on the clock that all threads share, which counts milliseconds: fractions are left out
   */
  charge(cell: number, limit: RateLimit, now: number, amount = 1): RateVerdict {
    const chunk = this.#chunkOf(cell);
    const index = cell & (CHUNK - 1);
    const whole = Math.floor(now);
    for (;;) {
      const held = Atomics.load(chunk, index);
      const verdict = judgeRate(limit, Number(held), whole, amount);
      if (!verdict.admitted) return verdict;
      if (Atomics.compareExchange(chunk, index, held, BigInt(verdict.paidAt)) === held) return verdict;
    }
  }

  /**
   * Judges a request by several cells, and charges it to each where all admit it. Of threads that do so at once one is
   * always done; another, whose charge is taken back, may refuse a third one's request for as long as that takes.
   *
   * @param now as of {@link charge}
   */
  chargeAll(limits: readonly CellLimit[], now: number): RateVerdict[] {
    const only = limits.length === 1 ? limits[0] : undefined;
    if (only !== undefined && only.cell !== 0) return [this.charge(only.cell, only.limit, now, only.amount)];
    for (;;) {
      const held = limits.map(({ cell }) => this.#heldIn(cell));
      const verdicts = this.#judge(limits, held, now);
      if (verdicts.some(({ admitted }) => !admitted) || this.#pay(limits, held, verdicts)) return verdicts;
    }
  }

  /** What {@link chargeAll} would say of a request, which is charged to none. */
  judgeAll(limits: readonly CellLimit[], now: number): RateVerdict[] {
    return this.#judge(
      limits,
      limits.map(({ cell }) => this.#heldIn(cell)),
      now,
    );
  }

  /** Takes back a request that was charged, or so many nanoseconds of it. */
  refund({ cell, limit, amount = 1 }: CellLimit, unpaid: number = amount * rateCost(limit)): void {
    if (cell !== 0) Atomics.sub(this.#chunkOf(cell), cell & (CHUNK - 1), BigInt(Math.floor(unpaid)));
  }

  /** Charges what was used already, also where nothing is left of the limit. */
  chargeUsed({ cell, limit, amount = 1 }: CellLimit, now: number): void {
    if (cell === 0) return;
    const chunk = this.#chunkOf(cell);
    const index = cell & (CHUNK - 1);
    for (;;) {
      const held = Atomics.load(chunk, index);
      const paidAt = BigInt(chargeUsed(limit, Number(held), Math.floor(now), amount));
      if (Atomics.compareExchange(chunk, index, held, paidAt) === held) return;
    }
  }

  #heldIn(cell: number): bigint {
    return cell === 0 ? 0n : Atomics.load(this.#chunkOf(cell), cell & (CHUNK - 1));
  }

  #judge(limits: readonly CellLimit[], held: readonly bigint[], now: number): RateVerdict[] {
    const states = limits.map(({ limit, amount }, i) => ({ limit, amount, paidAt: Number(held[i]) }));
    return judgeRates(states, Math.floor(now));
  }

  /** False where another thread has charged one of the cells since: then none of them has been. */
  #pay(limits: readonly CellLimit[], held: readonly bigint[], verdicts: readonly RateVerdict[]): boolean {
    for (const [i, { cell }] of limits.entries()) {
      if (cell === 0) continue;
      const [before, paidAt] = [held[i] ?? 0n, BigInt(verdicts[i]?.paidAt ?? 0)];
      if (Atomics.compareExchange(this.#chunkOf(cell), cell & (CHUNK - 1), before, paidAt) === before) continue;
      for (const paid of limits.slice(0, i)) this.refund(paid);
      return false;
    }
    return true;
  }

  #chunkOf(cell: number): BigInt64Array {
    const chunk = this.#chunks[cell >>> CHUNK_BITS];
    if (chunk === undefined) throw new RangeError(`there is no cell ${cell}`);
    return chunk;
  }
}
