import { Readable } from "node:stream";
import { getHeapStatistics } from "node:v8";
import { BodyPieces } from "./body-pieces.ts";
import { BytePool, freeBytes } from "./byte-pool.ts";
import { inSlices } from "./slices.ts";

const MIB = 1024 * 1024;
/** From so many bytes on a body is large: its memory is used again, and has to be released. */
export const LARGE_BODY: number = MIB;
/** From so many bytes on, up to a pool's whole, it takes one of these; what is less takes as much as it has. */
const POOLED = 4 * MIB;
/** Bytes that are copied in the time of a step: a MiB a slice, which takes a millisecond of a thread's time. */
const COPIED_IN_A_STEP = 4;
/** What is passed on of a large one at a time: no less than a socket to an upstream keeps, which its connector bounds. */
const COPY = 64 * 1024;
const NOTHING = Buffer.alloc(0);

/** What each of the pools keeps while nothing uses it: for two bodies at most, and an eighth of the heap. */
const IDLE_MIB = Math.min(64, Math.floor(getHeapStatistics().heap_size_limit / 8 / MIB));

/** Of this thread: what large bodies are copied into as they come, and what they are in once they are whole. */
const blocks = new BytePool(MIB, IDLE_MIB);
const wholes = new BytePool(32 * MIB, IDLE_MIB / 32);
/** What the large bodies are in that are not released. */
const lent = new WeakMap<Buffer, Buffer>();

/** Collects a body as it comes. The pieces that it is given are no one else's: they are emptied once it is large. */
export class ReceivedBody {
  readonly #small = new BodyPieces();
  #blocks: Buffer[] = [];
  /** The last of the blocks, and how much of it is used. */
  #block: Buffer = NOTHING;
  #used = 0;
  #size = 0;

  /** In bytes. */
  get size(): number {
    return this.#size;
  }

  add(piece: Buffer): void {
    this.#size += piece.length;
    if (this.#size < LARGE_BODY) {
      this.#small.add(piece);
      return;
    }
    for (let from = 0; from < piece.length; ) {
      if (this.#used === this.#block.length) {
        this.#block = blocks.take();
        this.#blocks.push(this.#block);
        this.#used = 0;
      }
      const copied = piece.copy(this.#block, this.#used, from);
      this.#used += copied;
      from += copied;
    }
    freeBytes(piece);
  }

  /**
   * The whole of it, of which nothing is kept here. A large one is copied in slices, since 31 MiB at once take tens of
   * milliseconds (threats b83), and is to be released: {@link releaseLargeBody}.
   */
  async joined(): Promise<Buffer> {
    if (this.#size < LARGE_BODY) return this.#small.whole();
    const size = this.#size;
    const whole = size >= POOLED && size <= wholes.size ? wholes.take() : Buffer.allocUnsafeSlow(size);
    const small = this.#small.parts;
    const taken = this.#takeBlocks();
    let at = 0;
    let part = 0;
    let from = 0;
    await inSlices((steps) => {
      for (let left = steps * COPIED_IN_A_STEP; left > 0; ) {
        const block = part < small.length ? small[part] : taken[part - small.length];
        if (block === undefined || at === size) return true;
        const copied = block.copy(whole, at, from, Math.min(block.length, from + left, from + size - at));
        at += copied;
        from += copied;
        left -= copied;
        if (from < block.length && at < size) continue;
        if (part >= small.length) blocks.giveBack(block);
        part += 1;
        from = 0;
      }
      return at === size;
    });
    const body = whole.subarray(0, size);
    lent.set(body, whole);
    return body;
  }

  /** Lets go of what has come, where it is not to be used. */
  release(): void {
    for (const block of this.#takeBlocks()) blocks.giveBack(block);
  }

  #takeBlocks(): readonly Buffer[] {
    const taken = this.#blocks;
    this.#blocks = [];
    this.#block = NOTHING;
    this.#used = 0;
    return taken;
  }
}

/** Releases a large body's memory, which another may be in then: nothing may read it any more. Others stay. */
export function releaseLargeBody(body: Buffer): void {
  const whole = lent.get(body);
  if (whole === undefined) return;
  lent.delete(body);
  if (whole.length === wholes.size) wholes.giveBack(whole);
  else freeBytes(whole);
}

/**
 * A large body as a socket is given it: in copies, since a socket may write a buffer after the body is released. One
 * buffer holds one copy after the other, since 31 MiB of new ones are a reason to collect garbage (threats b83). The
 * next is made once the reader takes more: a socket that was given so many bytes has written them all by then.
 */
export class BodyCopies extends Readable {
  readonly #parts: Iterator<Buffer>;
  readonly #isReleased: () => boolean;
  readonly #copy = Buffer.allocUnsafeSlow(COPY);
  #part: Buffer = NOTHING;

  /** @param isReleased asked before each copy: there are no more then */
  constructor(parts: Iterable<Buffer>, isReleased: () => boolean) {
    // Nothing is read ahead, into the buffer that a socket may still be writing.
    super({ highWaterMark: 0 });
    this.#parts = parts[Symbol.iterator]();
    this.#isReleased = isReleased;
  }

  override _read(): void {
    while (this.#part.length === 0) {
      const next = this.#parts.next();
      if (next.done === true) {
        this.push(null);
        return;
      }
      this.#part = next.value;
    }
    if (this.#isReleased()) {
      this.push(null);
      return;
    }
    const piece = this.#part.subarray(0, COPY);
    this.#part = this.#part.subarray(piece.length);
    // A socket asks for more before it has written a shorter one: that has a buffer of its own.
    if (piece.length < COPY) this.push(Buffer.from(piece));
    else {
      piece.copy(this.#copy);
      this.push(this.#copy);
    }
  }
}
