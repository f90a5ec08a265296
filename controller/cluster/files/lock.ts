/**
 * Lock that lets one process at a time work on a DATA folder: two PGlite processes on one folder lose rows. It is the
 * lock that SQLite, which comes with Node, takes on an empty file by fcntl. The kernel drops it when the process ends,
 * however it ends, so nothing is ever stale. It needs no pid, which another container would read as another process,
 * and it works between containers that share the folder. Nothing else in the process may open the file: closing it
 * would drop the lock.
 */
import { readFile } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { setTimeout as delay } from "node:timers/promises";
import { errorText } from "../../../domain/error-text.ts";
import { replaceFile, whenMissing } from "./disk.ts";

/** Milliseconds that a second process waits for the first to end (architecture §2, the files cluster). */
const PATIENCE_MS = 15_000;
const PROBE_MS = 100;
const SQLITE_BUSY = 5;

export type DataLock = { release(): void };

/** Error if another process works on the folder. The command line ends with exit code 2. */
export class DataLockedError extends Error {
  constructor(data: string, holder: string, waitedMs: number) {
    super(
      `another keyplane process is using ${data}, and still was after ${waitedMs / 1000} s: ` +
        `stop it first, or choose another folder with --data${holder}`,
    );
    this.name = "DataLockedError";
  }
}

export type LockOptions = {
  readonly clock: { monotonic(): number };
  /** Milliseconds to wait for another holder; 15 s by default. */
  readonly patienceMs?: number;
  /** Signal that ends the wait. */
  readonly signal?: AbortSignal | undefined;
  /** Called once, with a sentence that says that it waits, and for which process. */
  readonly onWait?: (message: string) => void;
};

/**
 * Takes the exclusive lock on a DATA folder, which exists, waiting for another holder.
 *
 * @throws DataLockedError if the other process stays
 * @throws the signal's reason if the signal aborts during the wait
 */
export async function lockData(
  data: string,
  { clock, patienceMs = PATIENCE_MS, signal, onWait }: LockOptions,
): Promise<DataLock> {
  const deadline = clock.monotonic() + patienceMs;
  for (let probes = 1; ; probes++) {
    const lock = tryLock(data);
    if (lock !== undefined) return sayWho(data, lock);
    if (clock.monotonic() >= deadline) throw new DataLockedError(data, await holderOf(data), patienceMs);
    // Not at the first probe: a process that only asks whether the folder is in use holds the lock for a moment.
    if (probes === 2) {
      const seconds = Math.round(patienceMs / 1_000);
      onWait?.(
        `another keyplane process is using ${data}${await holderOf(data)}: waiting up to ${seconds} s for it to end`,
      );
    }
    await delay(PROBE_MS);
    signal?.throwIfAborted();
  }
}

/** True if a process works on a DATA folder, which exists. */
export function isLocked(data: string): boolean {
  const lock = tryLock(data);
  lock?.release();
  return lock === undefined;
}

/** Returns the path of the file that names the last holder of the lock, for people alone. */
const holderFile = (data: string): string => join(data, "lock-holder");

async function sayWho(data: string, lock: DataLock): Promise<DataLock> {
  try {
    await replaceFile(holderFile(data), `${process.pid} on ${hostname()}\n`, false);
    return lock;
  } catch (error) {
    lock.release();
    throw error;
  }
}

async function holderOf(data: string): Promise<string> {
  const text = (await readFile(holderFile(data), "utf8").catch(whenMissing(""))).trim();
  return text === "" ? "" : ` (pid ${text})`;
}

/**
 * Loads SQLite, as it comes with Node. Node 22 and 24 warn of it as experimental as they load it. No user can do
 * anything about that, and the tests run what is used of it on each Node that is promised. So it is not imported but
 * loaded here, without the warning.
 */
function loadSqlite() {
  const { emitWarning } = process;
  process.emitWarning = () => {};
  try {
    return process.getBuiltinModule("node:sqlite");
  } finally {
    process.emitWarning = emitWarning;
  }
}

/**
 * Takes the lock; undefined if another process holds it.
 *
 * @throws Error if the file cannot be opened, or cannot be locked for any other reason
 */
function tryLock(data: string): DataLock | undefined {
  const path = join(data, "lock");
  const sqlite = loadSqlite();
  let file: DatabaseSync | undefined;
  try {
    file = new sqlite.DatabaseSync(path);
    file.exec("BEGIN EXCLUSIVE");
  } catch (error) {
    file?.close();
    if (error instanceof Error && "errcode" in error && error.errcode === SQLITE_BUSY) return undefined;
    const message = `${path} cannot be locked (${errorText(error)}): see that this user may write there, and that there is room`;
    throw new Error(message, { cause: error });
  }
  const locked = file;
  return {
    release() {
      if (locked.isOpen) locked.close();
    },
  };
}
