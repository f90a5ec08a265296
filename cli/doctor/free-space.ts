/** Check of the free space for what `keyplane up` writes. */
import { statfs } from "node:fs/promises";
import { type Finding, ok, wrong } from "./finding.ts";

const MIB = 1_048_576;
/**
 * Least free space, in bytes. The embedded database writes its log in files of 16 MiB, and begins the next file before
 * the last is full.
 */
const LEAST = 32 * MIB;

export async function checkFreeSpace({ data }: { readonly data: string }): Promise<Finding[]> {
  const { bavail, bsize } = await statfs(data);
  return [judgeFreeSpace(data, bavail * bsize)];
}

/**
 * Judges the free space.
 *
 * @param free bytes that a process without the rights of root may still write
 */
export function judgeFreeSpace(data: string, free: number): Finding {
  const left = `${Math.floor(free / MIB)} MiB are left on the disk of ${data}`;
  if (free >= LEAST) return ok("storage", left);
  return wrong("storage", `${left}: keyplane up needs ${LEAST / MIB}`, "make room there, then start keyplane up again");
}
