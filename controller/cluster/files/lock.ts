/**
 * One process at a time works on a DATA folder: two PGlite processes on one folder lose rows. The lock is the one that
 * SQLite, which comes with Node, takes on an empty file by fcntl. The kernel drops it when the process ends, however it
 * ends, so nothing is ever stale; it needs no pid, which another container would read as another process; and it works
 * between containers that share the folder. Nothing else in the process may open the file: closing it would drop the
 * lock.
 */
import { readFile } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { setTimeout as delay } from "node:timers/promises";
import { errorText } from "../../../domain/error-text.ts";
import { replaceFile, whenMissing } from "./disk.ts";

/** How long a second process waits for the first to end (architecture §2, the files cluster). */
const PATIENCE_MS = 15_000;
const PROBE_MS = 100;
const SQLITE_BUSY = 5;

export type DataLock = { release(): void };

/** Another process works on the folder. The command line ends with exit code 2. */
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
  /** How long to wait for another holder. Milliseconds; 15 s where it is left out. */
  readonly patienceMs?: number;
  /** Ends the waiting. */
  readonly signal?: AbortSignal | undefined;
  /** Called once, with a sentence that says that it waits, and for which process. */
  readonly onWait?: (message: string) => void;
};

/**
 * Takes the exclusive lock on a DATA folder, which exists, waiting for another holder.
 *
 * @throws DataLockedError when the other process stays
 * @throws the signal's reason when the signal aborts while this waits
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
    // Not at the first: one that only asks whether the folder is in use holds the lock for a moment.
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

/** Whether a process works on a DATA folder, which exists. */
export function isLocked(data: string): boolean {
  const lock = tryLock(data);
  lock?.release();
  return lock === undefined;
}

/** Who took the lock last, for people alone. */
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
 * SQLite, as it comes with Node. Not by an import: Node 22 and 24 warn of it as experimental as they load it. No user can
 * do anything about that, and the tests run what is used of it on each Node that is promised: so it is left out.
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

/** @throws Error where the file cannot be opened or locked for another reason than another holder */
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
