import type { Stats } from "node:fs";
import { chmod, lstat, readdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { foreignOwner, isForeign, STICKY } from "../../../runtime/distrust.ts";
import { hasCode } from "../../../runtime/error-code.ts";
import { ensureFolder, replaceFile, whenMissing } from "./disk.ts";

const OWN = 0o700;
const OTHERS = 0o077;
const OTHERS_WRITE = 0o022;

/**
 * Makes the DATA folder, or closes it and its content to others, and checks that all of it is this user's or root's:
 * the owner of a folder can put a token and an encryption key of their own there (threats b326).
 *
 * @param warn called if others can write there because of how it is mounted
 * @throws Error naming what is another user's, or can be written by others and not be closed, and what to do
 */
export async function closeOwnFolder(
  folder: string,
  warn: (message: string) => void,
  me = process.geteuid?.(),
): Promise<void> {
  const found = await lstat(folder).catch(whenMissing(undefined));
  if (found !== undefined && isForeign(found, me)) {
    throw new Error(
      `${folder} belongs to ${foreignOwner(found)}, who can put a token and an encryption key of their own there: ` +
        "choose another --data, or have root give it to this user (chown -R)",
    );
  }
  await ensureFolder(folder).catch((error: unknown) => {
    if (!hasCode(error, "EPERM")) throw error;
  });
  const { mode, dev } = await lstat(folder);
  const isClosed = (mode & OTHERS_WRITE) === 0;
  if (!isClosed) {
    const open = `${folder} can be written by others on this machine, and this user cannot close it`;
    const isMounted = (await lstat(dirname(folder))).dev !== dev;
    if (!isMounted || (mode & STICKY) !== 0) {
      throw new Error(`${open}: choose another --data, such as a folder in it that is not there yet`);
    }
    warn(`${open}, as it is mounted: have no one else reach it, or choose a folder in it as --data`);
  }
  await closeEntries(folder, isClosed, me, join(folder, "db"));
}

/**
 * Checks all entries of a folder. The database's folder, where PostgreSQL has thousands of files, is entered only if
 * others could write in it. Closes the entries of a folder that others could reach or write until now.
 */
async function closeEntries(folder: string, closes: boolean, me: number | undefined, database?: string): Promise<void> {
  for (const name of await namesIn(folder)) {
    const path = join(folder, name);
    const found = await lstat(path).catch(whenMissing(undefined));
    if (found === undefined) continue;
    if (isForeign(found, me)) {
      throw new Error(
        `${path} belongs to ${foreignOwner(found)}: move it away, or have root give it to this user if it is yours (chown)`,
      );
    }
    // In a folder that others can write, they could put a link in its place meanwhile.
    if (closes && !found.isSymbolicLink() && (found.mode & OTHERS) !== 0) await close(path, found);
    const wasOpen = (found.mode & OTHERS_WRITE) !== 0;
    if (found.isDirectory() && (wasOpen || path !== database)) await closeEntries(path, closes && wasOpen, me);
  }
}

/** Returns the names in a folder; none if this user may not list it, such as root's `lost+found` on a separate disk. */
const namesIn = (folder: string): Promise<string[]> =>
  readdir(folder).catch((error: unknown) => {
    if (hasCode(error, "EACCES")) return [];
    return whenMissing<string[]>([])(error);
  });

async function close(path: string, { mode }: Stats): Promise<void> {
  await chmod(path, mode & OWN).catch((error: unknown) => {
    if (!hasCode(error, "EPERM")) throw error;
    if ((mode & OTHERS_WRITE) === 0) return;
    throw new Error(`${path} can be written by others on this machine: have root close it (chmod go=)`);
  });
}

/** Has Git pass over the data folder, with the plaintexts in it, where it lies in a repository (threats b455). */
export async function hideFromGit(data: string): Promise<void> {
  const path = join(data, ".gitignore");
  if ((await lstat(path).catch(whenMissing(undefined))) === undefined) await replaceFile(path, "*\n");
}
