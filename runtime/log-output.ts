import { writeSync } from "node:fs";
import type { DestinationStream } from "pino";
import { hasCode } from "./error-code.ts";
import { OutputTurn } from "./output-turn.ts";

/** What is kept for a reader that is behind. Bytes. */
const MAX_KEPT = 1_024 * 1_024;
/** What a pipe of Linux takes whole or not at all: lines that are kept are written together up to it. Bytes. */
const MAX_WRITE = 4_096;
/** How often a reader that is behind is tried again: a pipe of 64 KiB then takes what is kept in a sixth of a second. */
const RETRY_MS = 10;
const NOTHING = Buffer.alloc(0);
const NEW_LINE = Buffer.from("\n");

/** Why nothing can be written now: another thread is within a line of its own. */
const NOT_THE_TURN = new Error("Another thread writes.");

/** What is reported of an output. */
type OutputEvents = {
  /** There is room again: how many lines were dropped meanwhile. It may write a line. */
  readonly onRoom: (dropped: number) => void;
  /** Its reader is gone; another one may come where it is a named pipe. */
  readonly onGone: () => void;
};

/**
 * Where the lines of the log leave a thread. Each is written at once. What the reader does not take is kept, up to a
 * bound; from then on lines are dropped and counted until all that is kept is written, so that a reader that stands
 * still stops nothing else. No line of another thread gets into the middle of one (threats c44).
 */
export class LogOutput implements DestinationStream {
  readonly #fd: number;
  readonly #events: OutputEvents;
  readonly #turn = new OutputTurn();
  /** Whole lines, several in one text. */
  readonly #kept: string[] = [];
  #keptBytes = 0;
  /** What is being written. */
  #rest: Buffer = NOTHING;
  /** Whether its beginning is written: the turn is kept. */
  #isWithin = false;
  #failure: unknown;
  #retry: NodeJS.Timeout | undefined;
  #dropped = 0;
  #unreported = 0;

  /** @param fd what is written to; of a pipe or a socket, one that does not block */
  constructor(fd: number, events: OutputEvents) {
    this.#fd = fd;
    this.#events = events;
  }

  /** How many lines were dropped, from the start on. */
  get dropped(): number {
    return this.#dropped;
  }

  /** Whether all that it has taken is written, and nothing was dropped that it has not said. */
  get isWritten(): boolean {
    return this.#failure === undefined && this.#unreported === 0;
  }

  /** Whether its reader is gone, as it was last tried. */
  get isGone(): boolean {
    return hasCode(this.#failure, "EPIPE");
  }

  write(line: string): void {
    if (this.#unreported > 0 || !this.#keep(line)) this.#drop();
    else this.#attempt();
  }

  /** Writes what is kept, as far as the reader takes it within this time, in which the thread does nothing else. */
  flush(withinMs: number): void {
    const end = performance.now() + withinMs;
    while (!this.#catchUp() && this.#isBehind() && performance.now() < end) {
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, RETRY_MS);
    }
  }

  /** @returns false where there is no room */
  #keep(line: string): boolean {
    const bytes = Buffer.byteLength(line);
    if (this.#keptBytes + this.#rest.length + bytes > MAX_KEPT) return false;
    const last = this.#kept.at(-1);
    // Of what is kept, the last text alone may have room: those before it were full.
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

  /** Writes what is kept, and has it said how many lines are missing behind it; returns whether nothing is left. */
  #catchUp(): boolean {
    this.#attempt();
    if (this.#failure === undefined && this.#unreported > 0) {
      const dropped = this.#unreported;
      this.#unreported = 0;
      this.#events.onRoom(dropped);
    }
    return this.#failure === undefined;
  }

  /** Writes what is kept, as far as it is this thread's turn and the reader takes it. */
  #attempt(): void {
    const wasGone = this.isGone;
    this.#failure = undefined;
    try {
      this.#takeTurn();
      while (this.#rest.length > 0 || this.#takeNext()) {
        this.#rest = this.#rest.subarray(writeSync(this.#fd, this.#rest));
        this.#isWithin = this.#rest.length > 0;
      }
    } catch (error) {
      this.#failure = error;
      this.#retryLater();
    }
    if (!this.#isWithin || this.isGone) this.#turn.release();
    if (this.isGone && !wasGone) this.#events.onGone();
  }

  /** @throws {@link NOT_THE_TURN} */
  #takeTurn(): void {
    const isOwn = this.#turn.isHeld;
    const taken = this.#turn.take();
    if (taken === undefined) throw NOT_THE_TURN;
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
    return this.#failure === NOT_THE_TURN || hasCode(this.#failure, "EAGAIN");
  }

  #retryLater(): void {
    this.#retry ??= setTimeout(() => {
      this.#retry = undefined;
      this.#catchUp();
    }, RETRY_MS).unref();
  }
}
