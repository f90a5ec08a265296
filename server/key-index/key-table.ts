/** Longer than most files: only this one knows the layout of a row. */
import { isImportedFormat, isSameId, type PackedVersion, unpackVersion } from "../context/packed-key-id.ts";

/**
 * Words of 32 bits in a row, which is written before it is published and never again. A row is one line of the
 * processor's cache, so that a reader waits for memory once.
 */
const ROW_WORDS = 16;
/** Words of the expiry, which is a double: the first two. */
const EXPIRY_WORDS = 2;
const DIGEST = EXPIRY_WORDS;
const DIGEST_WORDS = 8;
const ID = DIGEST + DIGEST_WORDS;
const ATTRIBUTES = ID + 4;
const LIMIT = ATTRIBUTES + 1;

/** Words beside each row that every thread writes: the time of the last use of its version, and the number of uses. */
const USE_WORDS = 2;

/**
 * Bits of a slot that are a row's number. The eight bits above are of the digest or id that the row is found by, so
 * that another key's row is rarely looked at.
 */
const ROW_BITS = 24;
const ROW_MASK = 2 ** ROW_BITS - 1;
/** Slot from which an entry was taken out: no row has number 0. */
const TAKEN_OUT = 1 << ROW_BITS;
/** Slots for each row. Linear probing stays short up to a load of two thirds. */
const SLOTS_PER_ROW = 1.5;

/** Buffers that make a table, to be handed to another thread. */
export type KeyTableBuffers = {
  readonly capacity: number;
  readonly rows: SharedArrayBuffer;
  readonly byDigest: SharedArrayBuffer;
  readonly byId: SharedArrayBuffer;
  readonly uses: SharedArrayBuffer;
  /** A bit for each row that was used. */
  readonly used: SharedArrayBuffer;
};

/** Contents of a row, besides its digest. */
type RowFields = PackedVersion & {
  readonly expiresAt: number;
  /** Number of its attributes; below, that of its rate limit's cell, 0 for none. */
  readonly attributes: number;
  readonly limit: number;
};

/**
 * Key versions in shared memory: rows of fixed size, and two open-addressing tables that find a row, one by the digest
 * of the secret and one by the key's id. One thread writes, any number read without a lock: a row is complete before a
 * slot points to it, and is not changed after. A change is a new row, and one store into the slot.
 */
export class KeyTable {
  readonly buffers: KeyTableBuffers;
  readonly #rows: Int32Array;
  readonly #expiries: Float64Array;
  readonly #byDigest: Int32Array;
  readonly #byId: Int32Array;
  readonly #uses: Int32Array;
  readonly #used: Int32Array;
  #lastRow = 0;

  constructor(buffers: KeyTableBuffers) {
    this.buffers = buffers;
    this.#rows = new Int32Array(buffers.rows);
    this.#expiries = new Float64Array(buffers.rows);
    this.#byDigest = new Int32Array(buffers.byDigest);
    this.#byId = new Int32Array(buffers.byId);
    this.#uses = new Int32Array(buffers.uses);
    this.#used = new Int32Array(buffers.used);
  }

  /** @throws RangeError for more rows than a slot can number */
  static allocate(capacity: number): KeyTable {
    if (capacity >= ROW_MASK) throw new RangeError(`an index of ${capacity} rows: the most is ${ROW_MASK - 1}`);
    const words = (count: number) => new SharedArrayBuffer(4 * count);
    const slots = Math.ceil(capacity * SLOTS_PER_ROW) + 1;
    return new KeyTable({
      capacity,
      rows: words((capacity + 1) * ROW_WORDS),
      byDigest: words(slots),
      byId: words(slots),
      uses: words((capacity + 1) * USE_WORDS),
      used: words((capacity + 32) >>> 5),
    });
  }

  get bytes(): number {
    const { rows, byDigest, byId, uses, used } = this.buffers;
    return rows.byteLength + byDigest.byteLength + byId.byteLength + uses.byteLength + used.byteLength;
  }

  /** Number of rows that can still be written. */
  get capacity(): number {
    return this.buffers.capacity - this.#lastRow;
  }

  get lastRow(): number {
    return this.#lastRow;
  }

  /** Returns the row of a digest (32 latin1 characters); 0 if there is none. */
  find(digest: string): number {
    const slots = this.#byDigest;
    const first = wordOf(digest, 0);
    const tag = wordOf(digest, 1) & ~ROW_MASK;
    for (let slot = startOf(first, slots.length); ; slot = slot + 1 === slots.length ? 0 : slot + 1) {
      const entry = Atomics.load(slots, slot);
      if (entry === 0) return 0;
      if ((entry & ~ROW_MASK) !== tag) continue;
      const row = entry & ROW_MASK;
      if (row !== 0 && this.#hasDigest(row, first, digest)) return row;
    }
  }

  #hasDigest(row: number, first: number, digest: string): boolean {
    const at = row * ROW_WORDS + DIGEST;
    const words = this.#rows;
    if (words[at] !== first) return false;
    for (let i = 1; i < DIGEST_WORDS; i++) if (words[at + i] !== wordOf(digest, i)) return false;
    return true;
  }

  /** Returns the rows of all versions of a key that are in the table. */
  rowsOf(id: PackedVersion): number[] {
    const rows: number[] = [];
    const slots = this.#byId;
    for (let slot = startOf(spread(id.first), slots.length); ; slot = slot + 1 === slots.length ? 0 : slot + 1) {
      const entry = Atomics.load(slots, slot);
      if (entry === 0) return rows;
      const row = entry & ROW_MASK;
      if (row !== 0 && (entry & ~ROW_MASK) === tagOfId(id.second) && this.#hasId(row, id)) rows.push(row);
    }
  }

  #hasId(row: number, { first, second, third, last }: PackedVersion): boolean {
    return (
      this.idWord(row, 0) === first &&
      this.idWord(row, 1) === second &&
      this.idWord(row, 2) === third &&
      isSameId(this.idWord(row, 3), last)
    );
  }

  idWord(row: number, word: 0 | 1 | 2 | 3): number {
    return this.#word(row, ID + word);
  }

  versionOf(row: number): number {
    return unpackVersion(this.idWord(row, 3));
  }

  isImportedFormat(row: number): boolean {
    return isImportedFormat(this.idWord(row, 3));
  }

  expiresAt(row: number): number {
    return this.#expiries[row * (ROW_WORDS / EXPIRY_WORDS)] ?? 0;
  }

  attributesOf(row: number): number {
    return this.#word(row, ATTRIBUTES);
  }

  limitOf(row: number): number {
    return this.#word(row, LIMIT);
  }

  #word(row: number, word: number): number {
    return this.#rows[row * ROW_WORDS + word] ?? 0;
  }

  /**
   * Writes a row that no search finds yet. There must be space for it.
   *
   * @param digest 32 latin1 characters
   */
  append(digest: string, { first, second, third, last, attributes, limit, expiresAt }: RowFields): number {
    const row = ++this.#lastRow;
    this.#expiries[row * (ROW_WORDS / EXPIRY_WORDS)] = expiresAt;
    const at = row * ROW_WORDS;
    const words = this.#rows;
    for (let i = 0; i < DIGEST_WORDS; i++) words[at + DIGEST + i] = wordOf(digest, i);
    words[at + ID] = first;
    words[at + ID + 1] = second;
    words[at + ID + 2] = third;
    words[at + ID + 3] = last;
    words[at + ATTRIBUTES] = attributes;
    words[at + LIMIT] = limit;
    return row;
  }

  /** Copies a row of `from` with other attributes. No search finds the copy yet. */
  appendCopy(from: KeyTable, copied: number, attributes: number): number {
    const row = ++this.#lastRow;
    const at = copied * ROW_WORDS;
    this.#rows.set(from.#rows.subarray(at, at + ROW_WORDS), row * ROW_WORDS);
    this.#rows[row * ROW_WORDS + ATTRIBUTES] = attributes;
    return row;
  }

  /**
   * Publishes a row: from here on it is found by its digest, and among its key's rows. The row that it replaces is
   * found no more. At each moment a reader finds one of the two: among its key's rows, the new one stands behind the
   * other, and before that is taken out (threats b476).
   */
  publish(row: number): void {
    const slots = this.#byDigest;
    const at = row * ROW_WORDS + DIGEST;
    const words = this.#rows;
    const entry = row | ((words[at + 1] ?? 0) & ~ROW_MASK);
    let slot = startOf(words[at] ?? 0, slots.length);
    let replaced = 0;
    for (; slots[slot] !== 0; slot = slot + 1 === slots.length ? 0 : slot + 1) {
      const other = (slots[slot] ?? 0) & ROW_MASK;
      if (other === 0 || !this.#haveSame(row, other, DIGEST, DIGEST_WORDS)) continue;
      replaced = other;
      break;
    }
    this.#addToKey(row);
    Atomics.store(slots, slot, entry);
    if (replaced !== 0) this.#takeOutOfKey(replaced);
  }

  /** True if the row's digest finds this row. */
  isPublished(row: number): boolean {
    return this.#slotOf(row, this.#byDigest, this.#word(row, DIGEST)) !== -1;
  }

  /** Takes out a row: its digest finds nothing any more. */
  takeOut(row: number): void {
    this.#takeOutOfKey(row);
    const slot = this.#slotOf(row, this.#byDigest, this.#word(row, DIGEST));
    if (slot !== -1) Atomics.store(this.#byDigest, slot, TAKEN_OUT);
  }

  #addToKey(row: number): void {
    const slots = this.#byId;
    let slot = startOf(spread(this.idWord(row, 0)), slots.length);
    while (slots[slot] !== 0) slot = slot + 1 === slots.length ? 0 : slot + 1;
    Atomics.store(slots, slot, row | tagOfId(this.idWord(row, 1)));
  }

  #takeOutOfKey(row: number): void {
    const slot = this.#slotOf(row, this.#byId, spread(this.idWord(row, 0)));
    if (slot !== -1) Atomics.store(this.#byId, slot, TAKEN_OUT);
  }

  #slotOf(row: number, slots: Int32Array, hash: number): number {
    for (let slot = startOf(hash, slots.length); slots[slot] !== 0; slot = slot + 1 === slots.length ? 0 : slot + 1) {
      if (((slots[slot] ?? 0) & ROW_MASK) === row) return slot;
    }
    return -1;
  }

  #haveSame(row: number, other: number, from: number, count: number): boolean {
    for (let word = from; word < from + count; word++) {
      if (this.#word(row, word) !== this.#word(other, word)) return false;
    }
    return true;
  }

  /**
   * Notes that a row's version was used, on any thread.
   *
   * @param at milliseconds since the epoch; kept modulo 2^32, so that {@link drainUses} has to come well within 24 days
   */
  noteUse(row: number, at: number): void {
    const cell = row * USE_WORDS;
    Atomics.store(this.#uses, cell, at | 0);
    Atomics.add(this.#uses, cell + 1, 1);
    const bit = 1 << (row & 31);
    if ((Atomics.load(this.#used, row >>> 5) & bit) === 0) Atomics.or(this.#used, row >>> 5, bit);
  }

  /**
   * Reports each row that was used since the last call, and how often, and forgets that. Rows that were replaced since
   * are reported too.
   */
  drainUses(now: number, report: (row: number, at: number, requests: number) => void): void {
    const moment = Math.floor(now);
    for (let index = 0; index <= this.#lastRow >>> 5; index++) {
      if (this.#used[index] === 0) continue;
      for (let bits = Atomics.exchange(this.#used, index, 0); bits !== 0; bits &= bits - 1) {
        const row = (index << 5) + 31 - Math.clz32(bits & -bits);
        const cell = row * USE_WORDS;
        const at = moment - ((moment - Atomics.load(this.#uses, cell)) | 0);
        report(row, at, Atomics.exchange(this.#uses, cell + 1, 0));
      }
    }
  }
}

/** Returns four characters of a digest as a word; the missing characters of a shorter text are zero. */
function wordOf(digest: string, word: number): number {
  const at = 4 * word;
  return (
    digest.charCodeAt(at) |
    (digest.charCodeAt(at + 1) << 8) |
    (digest.charCodeAt(at + 2) << 16) |
    (digest.charCodeAt(at + 3) << 24)
  );
}

/** Returns the slot at which a search begins: the hash, as a fraction of 2^32, of the slots. */
function startOf(hash: number, slots: number): number {
  return Math.floor(((hash >>> 0) * slots) / 2 ** 32);
}

/** Spreads the 30 bits of an id's word over all 32. */
function spread(word: number): number {
  return word << 2;
}

function tagOfId(second: number): number {
  return (second << 2) & ~ROW_MASK;
}
