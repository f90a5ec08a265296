/**
 * One process at a time works on a DATA folder: two PGlite processes on one folder lose rows. The lock is the one that
 * SQLite, which comes with Node, takes on an empty file by fcntl. The kernel drops it when the process ends, however it
 * ends, so nothing is ever stale; it needs no pid, which another container would read as another process; and it works
 * between containers that share the folder. Nothing else in the process may open the file: closing it would drop the
 * lock.
 */
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as delay } from "node:timers/promises";

/** How long a second process waits for the first to end (design §2, the files cluster). */
const PATIENCE_MS = 15_000;
const PROBE_MS = 100;
const SQLITE_BUSY = 5;

export type DataLock = { release(): void };

/** Another process works on the folder. The command line ends with exit code 2. */
export class DataLockedError extends Error {
  constructor(data: string, waitedMs: number) {
    super(
      `another keyplane process is using ${data}, and still was after ${waitedMs / 1000} s: ` +
        "stop it first, or choose another folder with --data",
    );
    this.name = "DataLockedError";
  }
}

/**
 * Takes the exclusive lock on a DATA folder, which exists, waiting for another holder up to `patienceMs`.
 *
 * @throws DataLockedError when the other process stays
 */
export async function lockData(
  data: string,
  clock: { monotonic(): number },
  patienceMs = PATIENCE_MS,
): Promise<DataLock> {
  const deadline = clock.monotonic() + patienceMs;
  for (;;) {
    const lock = tryLock(data);
    if (lock !== undefined) return lock;
    if (clock.monotonic() >= deadline) throw new DataLockedError(data, patienceMs);
    await delay(PROBE_MS);
  }
}

function tryLock(data: string): DataLock | undefined {
  const file = new DatabaseSync(join(data, "lock"));
  try {
    file.exec("BEGIN EXCLUSIVE");
  } catch (error) {
    file.close();
    if (error instanceof Error && "errcode" in error && error.errcode === SQLITE_BUSY) return undefined;
    throw new Error(`while locking ${data}`, { cause: error });
  }
  return {
    release() {
      if (file.isOpen) file.close();
    },
  };
}
