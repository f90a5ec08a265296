import { type DestinationStream, pino } from "pino";
import { hasCode } from "./error-code.ts";

/** What is kept for a reader that is behind. Bytes. */
const MAX_KEPT = 1_024 * 1_024;
/** What a pipe of Linux takes whole or not at all: no line of another thread gets into the middle of so many bytes. */
const MAX_WRITE = 4_096;
/** How often a reader that is behind is tried again: a pipe of 64 KiB then takes what is kept in a sixth of a second. */
const RETRY_MS = 10;

/**
 * Where the lines of the log leave a thread. Each is written at once. What the reader does not take is kept, up to a
 * bound; from then on lines are dropped and counted until all that is kept is written, so that a reader that stands
 * still stops nothing else (threats c44).
 */
export class LogOutput implements DestinationStream {
  readonly #output: ReturnType<typeof pino.destination>;
  readonly #onRoom: (dropped: number) => void;
  #failure: unknown;
  #retry: NodeJS.Timeout | undefined;
  #dropped = 0;
  #unreported = 0;

  /**
   * @param fd what is written to; of a pipe or a socket, one that does not block
   * @param onRoom called once there is room again, with how many lines were dropped meanwhile; it may write a line
   */
  constructor(fd: number, onRoom: (dropped: number) => void) {
    this.#onRoom = onRoom;
    this.#output = pino.destination({
      ...{ dest: fd, sync: true, maxLength: MAX_KEPT, maxWrite: MAX_WRITE },
      retryEAGAIN: () => false,
    });
    // Pino's own listener throws, and after an EPIPE discards every line uncounted: here a failure is a reader behind.
    this.#output.removeAllListeners("error").on("error", (error) => {
      this.#failure = error;
    });
    this.#output.on("drop", () => this.#drop());
  }

  /** How many lines were dropped, from the start on. */
  get dropped(): number {
    return this.#dropped;
  }

  /** Whether all that it has taken is written, and nothing was dropped that it has not said. */
  get isWritten(): boolean {
    return this.#failure === undefined && this.#unreported === 0;
  }

  write(line: string): void {
    if (this.#unreported > 0) this.#drop();
    else this.#attempt(line);
  }

  /** Writes what is kept, as far as the reader takes it within this time, in which the thread does nothing else. */
  flush(withinMs: number): void {
    const end = performance.now() + withinMs;
    while (!this.#catchUp() && hasCode(this.#failure, "EAGAIN") && performance.now() < end) {
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, RETRY_MS);
    }
  }

  #drop(): void {
    this.#dropped++;
    this.#unreported++;
    this.#retryLater();
  }

  /** Writes what is kept, and has it said how many lines are missing behind it; returns whether nothing is left. */
  #catchUp(): boolean {
    this.#attempt("");
    if (this.#failure === undefined && this.#unreported > 0) {
      const dropped = this.#unreported;
      this.#unreported = 0;
      this.#onRoom(dropped);
    }
    return this.#failure === undefined;
  }

  /** Writes what is kept, and a line behind it. */
  #attempt(line: string): void {
    this.#failure = undefined;
    this.#output.write(line);
    if (this.#failure !== undefined) this.#retryLater();
  }

  #retryLater(): void {
    this.#retry ??= setTimeout(() => {
      this.#retry = undefined;
      this.#catchUp();
    }, RETRY_MS).unref();
  }
}
