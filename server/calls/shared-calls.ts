import { packVersion } from "../context/packed-key-id.ts";

/** Keys that may have calls under way at once. A further key is refused. */
const MOST_KEYS = 2 ** 15;
/** Slots of the table: linear probing stays short up to a load of a half. */
const SLOTS = 2 * MOST_KEYS;
/** Words before the slots: the lock, and the number of keys. */
const [LOCK, KEYS, HEAD_WORDS] = [0, 1, 2];
/** Words of a slot: an id's four, and the number of calls that it has under way: no slot in use has 0. */
const [COUNT, SLOT_WORDS] = [4, 5];
const ID_BITS = 0x3ff;

/** States of the lock: no thread holds it, one thread does, and others may wait for it. */
const [FREE, HELD, AWAITED] = [0, 1, 2];

/**
 * Number of calls that keys and teams have under way, over all threads of a server, if they declare how many they may
 * have. A table of open addresses in shared memory, under a lock that is held for some hundred nanoseconds. A thread
 * that dies takes its server with it, so that no count outlives its calls.
 */
export class SharedCalls {
  readonly buffer: SharedArrayBuffer;
  readonly #words: Int32Array;

  /** @param buffer memory of another thread's counts; new memory if it is left out */
  constructor(buffer = new SharedArrayBuffer((HEAD_WORDS + SLOTS * SLOT_WORDS) * Int32Array.BYTES_PER_ELEMENT)) {
    this.buffer = buffer;
    this.#words = new Int32Array(buffer);
  }

  countOf(keyId: string): number {
    return this.#locked(() => this.#word(this.#slotOf(idOf(keyId)), COUNT));
  }

  /** Counts a call. Returns false if its key has so many already, or there is no space for one key more. */
  take(keyId: string, limit: number): boolean {
    const id = idOf(keyId);
    return this.#locked(() => {
      const slot = this.#slotOf(id);
      const count = this.#word(slot, COUNT);
      if (count >= limit) return false;
      if (count === 0 && !this.#begin(slot, id)) return false;
      this.#words[at(slot) + COUNT] = count + 1;
      return true;
    });
  }

  /** Notes that a call that was counted has ended. */
  giveBack(keyId: string): void {
    const id = idOf(keyId);
    this.#locked(() => {
      const slot = this.#slotOf(id);
      const count = this.#word(slot, COUNT);
      if (count === 0) throw new RangeError(`no call of ${keyId} is counted`);
      if (count > 1) this.#words[at(slot) + COUNT] = count - 1;
      else this.#takeOut(slot);
    });
  }

  #begin(slot: number, id: readonly number[]): boolean {
    const keys = this.#words[KEYS] ?? 0;
    if (keys === MOST_KEYS) return false;
    this.#words[KEYS] = keys + 1;
    this.#words.set(id, at(slot));
    return true;
  }

  /** Empties a slot. An entry behind it that belongs before moves up, so that no search ends too early. */
  #takeOut(slot: number): void {
    this.#words[KEYS] = (this.#words[KEYS] ?? 0) - 1;
    let gap = slot;
    for (let next = after(slot); this.#word(next, COUNT) !== 0; next = after(next)) {
      const home = startOf(this.#word(next, 0));
      if (distance(home, next) < distance(gap, next)) continue;
      this.#words.copyWithin(at(gap), at(next), at(next) + SLOT_WORDS);
      gap = next;
    }
    this.#words[at(gap) + COUNT] = 0;
  }

  /** Returns the slot in which a key's count is, or would be. */
  #slotOf(id: readonly number[]): number {
    let slot = startOf(id[0] ?? 0);
    while (this.#word(slot, COUNT) !== 0 && !id.every((word, index) => this.#word(slot, index) === word)) {
      slot = after(slot);
    }
    return slot;
  }

  #word(slot: number, word: number): number {
    return this.#words[at(slot) + word] ?? 0;
  }

  #locked<T>(work: () => T): T {
    const words = this.#words;
    if (Atomics.compareExchange(words, LOCK, FREE, HELD) !== FREE) {
      while (Atomics.exchange(words, LOCK, AWAITED) !== FREE) Atomics.wait(words, LOCK, AWAITED);
    }
    try {
      return work();
    } finally {
      if (Atomics.exchange(words, LOCK, FREE) === AWAITED) Atomics.notify(words, LOCK, 1);
    }
  }
}

function idOf(keyId: string): readonly number[] {
  const { first, second, third, last } = packVersion(keyId, 0, false);
  return [first, second, third, last & ID_BITS];
}

const at = (slot: number) => HEAD_WORDS + slot * SLOT_WORDS;
const after = (slot: number) => (slot + 1) % SLOTS;
const startOf = (word: number) => word % SLOTS;
const distance = (from: number, to: number) => (to - from + SLOTS) % SLOTS;
