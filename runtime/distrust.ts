/** Which files are taken as they stand: those that this user and root alone can change. */
import { realpathSync, type Stats, statSync } from "node:fs";
import { dirname } from "node:path";

/** Why a file is not taken as it stands, and whether it is not taken at all. */
export type Distrust = { readonly why: string; readonly isRefused: boolean };

const ROOT = 0;
const OTHERS_WRITE = 0o002;
/** In such a folder, users may make files and not change those of others. */
const STICKY = 0o1000;

/** Whether it is neither this user's nor root's. Where the system has no such users, it never is. */
export function isForeign({ uid }: Pick<Stats, "uid">, me = process.geteuid?.()): boolean {
  return me !== undefined && uid !== me && uid !== ROOT;
}

/**
 * Who else can change a file that a flag names. It is refused but where that would refuse what a container mounts: root
 * reads other users' files, and others may write what is mounted for them to write, as a pod's containers do.
 *
 * @returns undefined for a file that no one else can change, and for what is no file or cannot be reached
 */
export function distrustOf(path: string, me = process.geteuid?.()): Distrust | undefined {
  const file = statsOf(path);
  if (me === undefined || !file?.isFile()) return undefined;
  const why = whyNot(file, me);
  if (why === undefined) return undefined;
  const isRootsChoice = me === ROOT && isForeign(file, me);
  return { why, isRefused: !isRootsChoice && whyNot(statSync(mountOf(path, file)), me) === undefined };
}

function statsOf(path: string): Stats | undefined {
  try {
    return statSync(path);
  } catch {
    return undefined;
  }
}

function whyNot(stats: Stats, me: number): string | undefined {
  if (isForeign(stats, me)) return `it belongs to another user (uid ${stats.uid}), who can change it`;
  const isOpen = (stats.mode & OTHERS_WRITE) !== 0 && !(stats.isDirectory() && (stats.mode & STICKY) !== 0);
  return isOpen ? "every user of this machine can change it" : undefined;
}

/** The file itself where it is mounted, else what is mounted that it is in: the root, if nothing else is. */
function mountOf(path: string, { dev }: Stats): string {
  let top = realpathSync(path);
  while (dirname(top) !== top && statSync(dirname(top)).dev === dev) top = dirname(top);
  return top;
}
