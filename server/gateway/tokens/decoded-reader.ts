import type { Transform } from "node:stream";
import { constants, createGunzip, createInflate } from "node:zlib";
import { type AnswerUsage, NO_TOKENS } from "../../../domain/usage/tokens.ts";
import type { AnswerReader, OnUsage } from "./answer-reader.ts";
import { ReadingTime } from "./reading-time.ts";

export const UNREAD: AnswerUsage = { tokens: NO_TOKENS, model: undefined, ending: "unread", isDoubtful: false };

// What is cut is decoded as far as it goes.
const zlib = { finishFlush: constants.Z_SYNC_FLUSH };
const gunzip = (): Transform => createGunzip(zlib);

/** Decoders by coding. Brotli has none: its memory grows with the answer. */
const CODINGS: Readonly<Record<string, () => Transform>> = {
  gzip: gunzip,
  "x-gzip": gunzip,
  deflate: () => createInflate(zlib),
};
/** Bytes of a decoded answer at most. */
const LONGEST = 32 << 20;
/** Answers that are decoded at once on a thread, at most. */
const MOST = 256;

/** True if answers in a coding are read, as long as few enough are. */
export function isReadCoding(name: string): boolean {
  return Object.hasOwn(CODINGS, name);
}

/** Bytes at most that wait to be decoded: an answer that comes faster is not read. */
const MAX_WAITING = 1 << 20;

/** Slots that a team's answers may take, as a multiple of the free slots: some are left for each other team. */
const TIMES_FREE = 3;

/** Milliseconds that it takes to decode a byte and to pass it on, beside the reading of it. */
const DECODING_MS = 3 / (1 << 20);

/**
 * Reading time of each team: 192 streams of 100 tokens a second take 15 to 40 ms of it each second, and 180 ms if each
 * event has a usage.
 */
const readingTime = new ReadingTime({ most: 500, perSecond: 200 });

/** Number of answers that are being decoded on this thread, by team. */
const decoding = new Map<string, number>();

/** Shows a reader an answer that came in a coding, which is decoded beside the call: the call does not wait for it. */
export class DecodedReader {
  readonly #reader: AnswerReader;
  readonly #decoder: Transform;
  readonly #closed: Promise<void>;
  #length = 0;
  #isRead = true;

  private constructor(reader: AnswerReader, decoder: Transform, teamId: string) {
    this.#reader = reader;
    this.#decoder = decoder;
    const giveBack = takeSlot(teamId);
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#closed = promise;
    this.#decoder.on("data", (bytes: Buffer) => {
      this.#length += bytes.length;
      if (this.#length > LONGEST || !readingTime.hasAny(teamId, performance.now())) this.#giveUp();
      else this.#read(teamId, bytes);
    });
    this.#decoder.on("error", () => this.#giveUp());
    this.#decoder.on("close", () => {
      giveBack();
      resolve();
    });
  }

  /**
   * @param teamId team of the gateway whose answer it is
   * @returns undefined if the coding is not known, too many answers are being decoded, or the team has no time left
   */
  static open(reader: AnswerReader, name: string, teamId: string): DecodedReader | undefined {
    const open = Object.hasOwn(CODINGS, name) ? CODINGS[name] : undefined;
    const isOpen = open && hasSlot(teamId) && readingTime.hasAny(teamId, performance.now());
    return isOpen ? new DecodedReader(reader, open(), teamId) : undefined;
  }

  push(bytes: Buffer): void {
    if (!this.#isRead) return;
    if (this.#decoder.writableLength > MAX_WAITING) this.#giveUp();
    else this.#decoder.write(bytes);
  }

  end(isWhole: boolean, onUsage: OnUsage): void {
    if (this.#isRead) this.#decoder.end();
    void this.#closed.then(() => onUsage(this.#isRead ? this.#reader.end(isWhole) : UNREAD, this.#reader.written));
  }

  #read(teamId: string, bytes: Buffer): void {
    const at = performance.now();
    this.#reader.push(bytes);
    const now = performance.now();
    readingTime.take(teamId, now - at + bytes.length * DECODING_MS, now);
  }

  #giveUp(): void {
    this.#isRead = false;
    this.#decoder.destroy();
  }
}

/**
 * True if a team has a slot for one more answer: not if it has too many, compared with the free slots (threats b250).
 */
function hasSlot(teamId: string): boolean {
  const free = MOST - [...decoding.values()].reduce((sum, taken) => sum + taken, 0);
  return (decoding.get(teamId) ?? 0) < TIMES_FREE * free;
}

/** Takes a decoding slot; returns a function that gives it back. */
function takeSlot(teamId: string): () => void {
  decoding.set(teamId, (decoding.get(teamId) ?? 0) + 1);
  return () => {
    const left = (decoding.get(teamId) ?? 1) - 1;
    if (left === 0) decoding.delete(teamId);
    else decoding.set(teamId, left);
  };
}
