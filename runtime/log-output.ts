import { writeSync } from "node:fs";
import type { DestinationStream } from "pino";
import { hasCode } from "./error-code.ts";
import { OutputLock } from "./output-lock.ts";

/** Maximum number of bytes that are kept for a reader that is behind. */
const MAX_KEPT = 1_024 * 1_024;
/** Number of bytes that a Linux pipe takes whole or not at all. Kept lines are written together up to this size. */
const MAX_WRITE = 4_096;
/** Milliseconds between attempts while the reader is behind: a 64 KiB pipe then takes all that is kept in 1/6 s. */
const RETRY_MS = 10;
const NOTHING = Buffer.alloc(0);
const NEW_LINE = Buffer.from("\n");

/** Failure of a write while another thread has the output within a line of its own. */
const LOCKED_OUTPUT = new Error("Another thread writes.");

/** Events of an output. */
type OutputEvents = {
  /** Called with the number of lines that were dropped, once there is space again. It may write a line. */
  readonly onSpace: (dropped: number) => void;
  /** Called when the reader is gone. A named pipe may get another reader. */
  readonly onGone: () => void;
};

/**
 * Output by which the log's lines leave a thread. Each line is written at once. Lines that the reader does not take are
 * kept, up to a bound; beyond it lines are dropped and counted until all kept lines are written, so that a stalled
 * reader stops nothing else. No line of another thread gets into the middle of a line (threats c44).
 */
export class LogOutput implements DestinationStream {
  readonly #fd: number;
  readonly #events: OutputEvents;
  readonly #lock = new OutputLock();
  /** Whole lines, several in one text. */
  readonly #kept: string[] = [];
  #keptBytes = 0;
  /** Bytes that are being written. */
  #rest: Buffer = NOTHING;
  /** True if the beginning of `#rest` is written: this thread keeps the lock on the output. */
  #isWithin = false;
  #failure: unknown;
  #retry: NodeJS.Timeout | undefined;
  #dropped = 0;
  #unreported = 0;

  /** @param fd file descriptor to write to; a pipe or a socket must be non-blocking */
  constructor(fd: number, events: OutputEvents) {
    this.#fd = fd;
    this.#events = events;
  }

  /** Number of lines that were dropped since the start. */
  get dropped(): number {
    return this.#dropped;
  }

  /** True if all accepted lines are written, and all drops are reported. */
  get isWritten(): boolean {
    return this.#failure === undefined && this.#unreported === 0;
  }

  /** True if the last attempt found that the reader is gone. */
  get isGone(): boolean {
    return hasCode(this.#failure, "EPIPE");
  }

  write(line: string): void {
    if (this.#unreported > 0 || !this.#keep(line)) this.#drop();
    else this.#attempt();
  }

  /** Writes the kept lines as far as the reader takes them within this time. It blocks the thread. */
  flush(withinMs: number): void {
    const end = performance.now() + withinMs;
    while (!this.#catchUp() && this.#isBehind() && performance.now() < end) {
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, RETRY_MS);
    }
  }

  /**
   * Keeps a line, of any size where no other is kept: it would be dropped whenever it is written. Returns false if there
   * is no space.
   */
  #keep(line: string): boolean {
    const bytes = Buffer.byteLength(line);
    const before = this.#keptBytes + this.#rest.length;
    if (before > 0 && before + bytes > MAX_KEPT) return false;
    const last = this.#kept.at(-1);
    // Of what is kept, the last text alone may have space: those before it were full.
    if (last !== undefined && Buffer.byteLength(last) + bytes <= MAX_WRITE) this.#kept.push(this.#kept.pop() + line);
    else this.#kept.push(line);
    this.#keptBytes += bytes;
    return true;
  }

  #drop(): void {
    this.#dropped++;
    this.#unreported++;
    this.#retryLater();
  }

  /** Writes the kept lines, and then reports how many lines are missing after them. Returns true if nothing is left. */
  #catchUp(): boolean {
    this.#attempt();
    if (this.#failure === undefined && this.#unreported > 0) {
      const dropped = this.#unreported;
      this.#unreported = 0;
      this.#events.onSpace(dropped);
    }
    return this.#failure === undefined;
  }

  /** Writes the kept lines, as far as this thread has the lock on the output and the reader takes them. */
  #attempt(): void {
    const wasGone = this.isGone;
    this.#failure = undefined;
    try {
      this.#takeLock();
      while (this.#rest.length > 0 || this.#takeNext()) {
        this.#rest = this.#rest.subarray(writeSync(this.#fd, this.#rest));
        this.#isWithin = this.#rest.length > 0;
      }
    } catch (error) {
      this.#failure = error;
      this.#retryLater();
    }
    if (!this.#isWithin || this.isGone) this.#lock.release();
    if (this.isGone && !wasGone) this.#events.onGone();
  }

  /**
   * Takes the lock on the output, or keeps it.
   *
   * @throws {@link LOCKED_OUTPUT}
   */
  #takeLock(): void {
    const isOwn = this.#lock.isHeld;
    const taken = this.#lock.take();
    if (taken === undefined) throw LOCKED_OUTPUT;
    if (this.#isWithin && !isOwn) {
      // This thread stood still for so long that another one ended its line.
      this.#rest = NOTHING;
      this.#isWithin = false;
      this.#drop();
    }
    if (taken === "cut") this.#rest = Buffer.concat([NEW_LINE, this.#rest]);
  }

  #takeNext(): boolean {
    const next = this.#kept.shift();
    if (next === undefined) return false;
    this.#rest = Buffer.from(next);
    this.#keptBytes -= this.#rest.length;
    return true;
  }

  #isBehind(): boolean {
    return this.#failure === LOCKED_OUTPUT || hasCode(this.#failure, "EAGAIN");
  }

  #retryLater(): void {
    this.#retry ??= setTimeout(() => {
      this.#retry = undefined;
      this.#catchUp();
    }, RETRY_MS).unref();
  }
}
