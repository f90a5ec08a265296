import { Readable } from "node:stream";
import { getHeapStatistics } from "node:v8";
import { BodyPieces } from "./body-pieces.ts";
import { BytePool, freeBytes } from "./byte-pool.ts";
import { inSlices } from "./slices.ts";

const MIB = 1024 * 1024;
/** Size in bytes from which on a body is large: its memory is used again, and has to be released. */
export const LARGE_BODY: number = MIB;
/**
 * Size in bytes from which on a body is joined into a buffer of the pool {@link wholes}, if it fits. A smaller body
 * gets a buffer of its own size.
 */
const POOLED = 4 * MIB;
/** Bytes that are copied per step: 1 MiB per slice, which takes a millisecond of a thread's time. */
const COPIED_IN_A_STEP = 4;
/**
 * Bytes of a large body that are passed on at a time: no less than the buffer of a socket to an upstream, which its
 * connector bounds.
 */
const COPY = 64 * 1024;
const NOTHING = Buffer.alloc(0);

/** Unused MiB that each pool keeps: enough for two bodies at most, and at most an eighth of the heap. */
const IDLE_MIB = Math.min(64, Math.floor(getHeapStatistics().heap_size_limit / 8 / MIB));

/** Pools of this thread: blocks that large bodies are copied into as they come, and buffers for whole bodies. */
const blocks = new BytePool(MIB, IDLE_MIB);
const wholes = new BytePool(32 * MIB, IDLE_MIB / 32);
/** Buffers that hold the large bodies which are not released. */
const lent = new WeakMap<Buffer, Buffer>();

/** Collects a body as it comes. It owns the pieces that it is given, and empties them once the body is large. */
export class ReceivedBody {
  readonly #small = new BodyPieces();
  #blocks: Buffer[] = [];
  /** Last of the blocks, and the number of its bytes that are used. */
  #block: Buffer = NOTHING;
  #used = 0;
  #size = 0;

  /** Size of the body in bytes. */
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
   * Returns the whole body, and keeps nothing of it. A large body is copied in slices, since 31 MiB at once take tens
   * of milliseconds (threats b83), and has to be released: {@link releaseLargeBody}.
   */
  joined(): Buffer | Promise<Buffer> {
    return this.#size < LARGE_BODY ? this.#small.whole() : this.#joinedInSlices();
  }

  async #joinedInSlices(): Promise<Buffer> {
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

  /** Drops the received part of a body that is not to be used. */
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

/** Releases a large body's memory for other bodies: nothing may read it any more. Does nothing for a small body. */
export function releaseLargeBody(body: Buffer): void {
  const whole = lent.get(body);
  if (whole === undefined) return;
  lent.delete(body);
  if (whole.length === wholes.size) wholes.giveBack(whole);
  else freeBytes(whole);
}

/**
 * Copies of a large body for a socket, since a socket may write a buffer after the body is released. One buffer holds
 * one copy after the other, since 31 MiB of new buffers are a reason to collect garbage (threats b83). The next copy is
 * made once the reader takes more: by then a socket has written all bytes of the copy before.
 */
export class BodyCopies extends Readable {
  readonly #parts: Iterator<Buffer>;
  readonly #isReleased: () => boolean;
  readonly #copy = Buffer.allocUnsafeSlow(COPY);
  #part: Buffer = NOTHING;

  /** Creates the copies. @param isReleased called before each copy: if it returns true, the copies end */
  constructor(parts: Iterable<Buffer>, isReleased: () => boolean) {
    // No copy is made ahead, into the buffer that a socket may still be writing.
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
    // A socket asks for more before it has written a shorter piece, so that piece gets a buffer of its own.
    if (piece.length < COPY) this.push(Buffer.from(piece));
    else {
      piece.copy(this.#copy);
      this.push(this.#copy);
    }
  }
}
