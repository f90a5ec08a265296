import { judgeRate, type RateLimit, type RateVerdict } from "../../domain/access/rate-limit.ts";

/** Cells in one buffer. */
const CHUNK_BITS = 12;
const CHUNK = 2 ** CHUNK_BITS;

/**
 * What keys with a rate limit have spent: one cell of shared memory for each of them, which all its versions share.
 * Cells are numbered from 1, and a cell never moves: there are more buffers instead of larger ones.
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
  charge(cell: number, limit: RateLimit, now: number): RateVerdict {
    const chunk = this.#chunkOf(cell);
    const index = cell & (CHUNK - 1);
    const whole = Math.floor(now);
    for (;;) {
      const held = Atomics.load(chunk, index);
      const verdict = judgeRate(limit, Number(held), whole);
      if (!verdict.admitted) return verdict;
      if (Atomics.compareExchange(chunk, index, held, BigInt(verdict.paidAt)) === held) return verdict;
    }
  }

  #chunkOf(cell: number): BigInt64Array {
    const chunk = this.#chunks[cell >>> CHUNK_BITS];
    if (chunk === undefined) throw new RangeError(`there is no cell ${cell}`);
    return chunk;
  }
}
