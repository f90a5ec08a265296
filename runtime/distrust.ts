/** Judges which files can be trusted: those that only this user and root can change. */
import { lstatSync, readlinkSync, type Stats, statSync } from "node:fs";
import { dirname, isAbsolute, join, sep } from "node:path";

/** Reason why a file is not trusted, and whether it is refused for that. */
export type Distrust = { readonly why: string; readonly isRefused: boolean };

const ROOT = 0;
const OTHERS_WRITE = 0o002;
/** Mode bit of a folder in which users may make files but not change those of others. */
export const STICKY = 0o1000;
/**
 * Folders that a system has for all of its users. Any other mount that all users may write is one for the containers of
 * a pod.
 */
const OF_ALL_USERS: ReadonlySet<string> = new Set(["/tmp", "/var/tmp", "/dev/shm"]);

/** True if the owner is neither this user nor root. Always false on a system without such users. */
export function isForeign({ uid }: Pick<Stats, "uid">, me = process.geteuid?.()): boolean {
  return me !== undefined && uid !== me && uid !== ROOT;
}

/**
 * Finds out which other user can change a file that a flag names, or replace it: the owner of a folder or a link on the
 * way to it counts too. Such a file is refused, except for what a container mounts: root reads other users' files, and
 * others may write what is mounted for them to write, as the containers of a pod do.
 *
 * @param withFolders false for a file of a folder that is known to be closed by other means
 * @returns undefined if no other user can change the file, and for a path that is no file or cannot be reached
 */
export function distrustOf(path: string, me = process.geteuid?.(), withFolders = true): Distrust | undefined {
  if (me === undefined || !statsOf(path, statSync)?.isFile()) return undefined;
  const found = locationsOf(path).flatMap((location) => distrustOfLocation(location, me, withFolders) ?? []);
  return found.find(({ isRefused }) => isRefused) ?? found[0];
}

function statsOf(path: string, read: (path: string) => Stats): Stats | undefined {
  try {
    return read(path);
  } catch {
    return undefined;
  }
}

/** Returns a file's path with all links resolved, and that of each link on the way, as the system looks them up. */
function locationsOf(path: string): readonly string[] {
  const locations: string[] = [];
  const names = (isAbsolute(path) ? path : `${process.cwd()}${sep}${path}`).split(sep);
  let folder: string = sep;
  for (let name = names.shift(); name !== undefined; name = names.shift()) {
    const location = join(folder, name);
    const stats = statsOf(location, lstatSync);
    // What standard input comes from may be removed by now, or be where this user has no way to.
    if (stats === undefined) return [...locations, path];
    if (!stats.isSymbolicLink()) {
      folder = location;
      continue;
    }
    locations.push(location);
    const target = readlinkSync(location);
    if (isAbsolute(target)) folder = sep;
    names.unshift(...target.split(sep));
  }
  return [...locations, folder];
}

/** Judges the file or link itself, and its folders up to the mount point: no other user can replace the mount point. */
function distrustOfLocation(location: string, me: number, withFolders: boolean): Distrust | undefined {
  const itself = lstatSync(location);
  const folders = foldersOf(location, itself);
  const { path: at, stats: mount } = folders.at(-1) ?? { path: location, stats: itself };
  const isForOthers =
    isForeign(mount, me) || isOpen(mount) || (isWritable(mount) && at !== sep && !OF_ALL_USERS.has(at));
  const refused = (stats: Stats, why: string): Distrust => {
    const isRootsChoice = me === ROOT && isForeign(stats, me);
    return { why, isRefused: !isRootsChoice && !isForOthers };
  };
  if (isForeign(itself, me)) return refused(itself, `it belongs to ${foreignOwner(itself)}, who can change it`);
  if (isOpen(itself)) return refused(itself, "every user of this machine can change it");
  for (const { path, stats } of withFolders ? folders : []) {
    if (isForeign(stats, me)) {
      return refused(stats, `its folder ${path} belongs to ${foreignOwner(stats)}, who can exchange it`);
    }
    if (isOpen(stats) && stats !== mount) {
      return refused(stats, `every user of this machine can exchange it, in ${path}`);
    }
  }
  return undefined;
}

/** Returns the folders above a path on the same mount; empty for a file that is itself a mount point. */
function foldersOf(location: string, { dev }: Stats): readonly { readonly path: string; readonly stats: Stats }[] {
  const folders: { path: string; stats: Stats }[] = [];
  for (let at = location; dirname(at) !== at; at = dirname(at)) {
    const above = dirname(at);
    const stats = statSync(above);
    if (stats.dev !== dev) break;
    folders.push({ path: above, stats });
  }
  return folders;
}

/** Describes a foreign owner in words. */
export const foreignOwner = ({ uid }: Pick<Stats, "uid">): string => `another user (uid ${uid})`;

function isOpen(stats: Stats): boolean {
  return isWritable(stats) && !(stats.isDirectory() && (stats.mode & STICKY) !== 0);
}

/** True if others may write it. The mode of a link says nothing. */
function isWritable(stats: Stats): boolean {
  return !stats.isSymbolicLink() && (stats.mode & OTHERS_WRITE) !== 0;
}
