/** How long memory that nothing uses is kept for the next use. Milliseconds. */
const IDLE_MS = 10_000;

/**
 * Buffers of one size, used again and again. To V8 each new one is a reason to collect garbage: with 31 MiB for each
 * body it walks over the whole heap for each of them, which delays every other call (threats b83).
 */
export class BytePool {
  /** Of each, in bytes. */
  readonly size: number;
  readonly #mostIdle: number;
  readonly #idleMs: number;
  readonly #idle: Buffer[] = [];
  #timer: NodeJS.Timeout | undefined;

  /**
   * @param size of each, in bytes
   * @param mostIdle how many that nothing uses are kept
   * @param idleMs for so many milliseconds after the last was given back
   */
  constructor(size: number, mostIdle: number, idleMs: number = IDLE_MS) {
    this.size = size;
    this.#idleMs = idleMs;
    this.#mostIdle = mostIdle;
  }

  /** How many there are that nothing uses. */
  get idle(): number {
    return this.#idle.length;
  }

  /** Holds what others have written: only what its taker has written itself may be read. */
  take(): Buffer {
    return this.#idle.pop() ?? Buffer.allocUnsafeSlow(this.size);
  }

  /** Takes back a buffer that was taken, once: nothing may read or write it any more. */
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

/** Frees a buffer's memory now, and not when garbage is collected, where nothing else is in it: it is empty then. */
export function freeBytes({ buffer, length }: Buffer): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength === length) buffer.transfer(0);
}
