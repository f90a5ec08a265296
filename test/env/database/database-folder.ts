import { mkdtempSync, readdirSync, readlinkSync, rmSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { hasCode } from "../../../runtime/error-code.ts";

/** Linux's file system in memory. */
const IN_MEMORY = "/dev/shm";
/** What it must have to spare, and the machine besides: many times what the databases of a run come to. Bytes. */
const ENOUGH = 4 * 2 ** 30;

/**
 * A new folder for databases, or for other files of a test, that end with their caller: in memory where the machine has
 * enough of it, else where other temporary files are. A database is hundreds of small files, and to make and to delete
 * them on a disk takes several times as much of the processor as the tests on it. What a crash leaves on a disk is not
 * for such a folder to show.
 *
 * @param prefix of its name
 * @param onDisk where it is made without that much memory
 */
export function makeDatabaseFolder(prefix: string, onDisk = tmpdir()): string {
  return mkdtempSync(
    hasMemory() ? join(IN_MEMORY, `${prefix}${pidNamespace()}-${process.pid}-`) : join(onDisk, prefix),
  );
}

/** Removes what processes that are gone have left in memory: those of runs that were broken off. */
export function removeLeftDatabaseFolders(): void {
  if (!hasMemory()) return;
  for (const name of readdirSync(IN_MEMORY)) {
    const [, namespace, maker] = /^keyplane-[a-z]+-(\d+)-(\d+)-/.exec(name) ?? [];
    if (namespace === pidNamespace() && !isRunning(Number(maker)))
      rmSync(join(IN_MEMORY, name), { recursive: true, force: true });
  }
}

/** Of this process: a process of another one may run, and is not seen from here. */
function pidNamespace(): string {
  return readlinkSync("/proc/self/ns/pid").replace(/\D/g, "");
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return !hasCode(error, "ESRCH");
  }
}

function hasMemory(): boolean {
  try {
    const { bavail, bsize } = statfsSync(IN_MEMORY);
    return bavail * bsize >= ENOUGH && process.availableMemory() >= 2 * ENOUGH;
  } catch {
    return false;
  }
}
