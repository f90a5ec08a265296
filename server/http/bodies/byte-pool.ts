/** Milliseconds that unused memory is kept for its next use. */
const IDLE_MS = 10_000;

/**
 * Buffers of one size, used again and again. To V8 each new buffer is a reason to collect garbage: with 31 MiB for each
 * body it walks over the whole heap each time, which delays every other call (threats b83).
 */
export class BytePool {
  /** Size of each buffer in bytes. */
  readonly size: number;
  readonly #mostIdle: number;
  readonly #idleMs: number;
  readonly #idle: Buffer[] = [];
  #timer: NodeJS.Timeout | undefined;

  /**
   * Creates an empty pool.
   *
   * @param size size of each buffer in bytes
   * @param mostIdle number of unused buffers that are kept
   * @param idleMs milliseconds that they are kept after the last was given back
   */
  constructor(size: number, mostIdle: number, idleMs: number = IDLE_MS) {
    this.size = size;
    this.#idleMs = idleMs;
    this.#mostIdle = mostIdle;
  }

  /** Number of unused buffers. */
  get idle(): number {
    return this.#idle.length;
  }

  /** Takes a buffer. It holds what others have written: only what its taker has written may be read. */
  take(): Buffer {
    return this.#idle.pop() ?? Buffer.allocUnsafeSlow(this.size);
  }

  /** Takes back a buffer, once: after that it must not be read or written. */
  giveBack(buffer: Buffer): void {
    if (this.#idle.length < this.#mostIdle) this.#idle.push(buffer);
    else freeBytes(buffer);
    this.#timer ??= setTimeout(() => this.#free(), this.#idleMs).unref();
    this.#timer.refresh();
  }

  #free(): void {
    this.#timer = undefined;
    for (const buffer of this.#idle.splice(0)) freeBytes(buffer);
  }
}

/**
 * Frees a buffer's memory at once, without waiting for the garbage collector, if nothing else is in it. The buffer is
 * empty then.
 */
export function freeBytes({ buffer, length }: Buffer): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength === length) buffer.transfer(0);
}
