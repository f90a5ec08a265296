import { readdirSync, statfsSync } from "node:fs";
import { join } from "node:path";

/** Settings by which a checkpoint leaves at most 5 segments of 16 MB, for what is written next. */
export const LOG_SETTINGS = ["max_wal_size=64MB", "min_wal_size=32MB"];
const MAX_SEGMENTS = 5;
/** Bytes that a disk must have free for a checkpoint: PostgreSQL ends where the small files of one find no room. */
const MIN_FREE = 2 ** 20;
/** Milliseconds between two looks at the folder. */
const LOOK_MS = 1_000;

/**
 * Tells when the write-ahead log of a database folder is to be freed. PGlite has no checkpointer: without one the log
 * grows until the database is closed, and a process that was killed reads all of it at its next start.
 */
export class LogSegments {
  readonly #folder: string;
  #lookedAt = Number.NEGATIVE_INFINITY;

  constructor(folder: string) {
    this.#folder = join(folder, "pg_wal");
  }

  /** Tells whether a checkpoint is due and can be made; false within a second of the last look. Never throws. */
  isCheckpointDue(): boolean {
    const now = performance.now();
    if (now - this.#lookedAt < LOOK_MS) return false;
    this.#lookedAt = now;
    try {
      const segments = readdirSync(this.#folder).filter((name) => /^[0-9A-F]{24}$/.test(name));
      return segments.length > MAX_SEGMENTS && freeBytes(this.#folder) >= MIN_FREE;
    } catch {
      return false;
    }
  }
}

function freeBytes(folder: string): number {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
}
