/**
 * Writes of the files in a DATA folder: whole or not at all, closed to other users, synced to the disk if the caller
 * requires it, and never through a link, since what is behind a link is not ours.
 */

import { lstatSync, type Stats } from "node:fs";
import { chmod, lstat, mkdir, open, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join, relative, resolve, sep } from "node:path";
import { hasCode } from "../../../runtime/error-code.ts";

const FOLDER_MODE = 0o700;
const FILE_MODE = 0o600;

/**
 * State of the path of a folder. `other`: a link or a file is there instead. `hidden`: a link or a file is at the path
 * of a folder above it.
 */
export type Standing = "nothing" | "folder" | "other" | "hidden";

/**
 * Returns the state of a path that is reached from `root`, itself included, through real folders alone. It is asked for
 * before each read and write, and looks without a thread: to hand a look over to one takes longer than the look.
 */
export async function standingAt(path: string, root: string): Promise<Standing> {
  const below = relative(root, path).split(sep).filter(Boolean);
  for (let depth = 0; depth <= below.length; depth++) {
    const there = lookAt(join(root, ...below.slice(0, depth)));
    if (there === undefined) return "nothing";
    if (!there.isDirectory()) return depth === below.length ? "other" : "hidden";
  }
  return "folder";
}

function lookAt(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch (error) {
    return whenMissing(undefined)(error);
  }
}

/**
 * @returns true if the folder is there
 * @throws with code ENOTDIR if a link or a file is at the path of the folder, or of a folder above it up to `root`
 */
export async function assertNoLink(path: string, root: string): Promise<boolean> {
  const standing = await standingAt(path, root);
  if (standing === "nothing" || standing === "folder") return standing === "folder";
  const message = `a link or a file is in the way to ${path}: what is there is left alone; put a folder in its place`;
  throw Object.assign(new Error(message), { code: "ENOTDIR" });
}

/**
 * Makes a folder and the folders above it. Node's recursive way is not used: it never returns if a folder exists in
 * which nothing can be made, as below /proc.
 *
 * @returns the topmost folder that was made; undefined if all of them existed
 */
async function makeFolders(path: string): Promise<string | undefined> {
  try {
    await mkdir(path, { mode: FOLDER_MODE });
    return path;
  } catch (error) {
    if (hasCode(error, "EEXIST")) return undefined;
    if (!hasCode(error, "ENOENT") || dirname(path) === path) throw error;
  }
  const first = await makeFolders(dirname(path));
  const isMade = await mkdir(path, { mode: FOLDER_MODE }).then(
    () => true,
    (error: unknown) => {
      // Another writer made it meanwhile.
      if (hasCode(error, "EEXIST")) return false;
      throw error;
    },
  );
  return first ?? (isMade ? path : undefined);
}

/**
 * Makes a folder, and the folders above it, closed to others; closes a folder that exists.
 *
 * @throws with code ENOTDIR if a link or a file is at its path, or at the path of a folder above it up to `root`
 */
export async function ensureFolder(folder: string, root = folder): Promise<void> {
  const isThere = await assertNoLink(folder, root);
  // Absolute, so that the way up ends at the root: the parent of "." is "." for ever.
  const path = resolve(folder);
  const first = isThere ? undefined : await makeFolders(path);
  if (first === undefined) {
    if (((await lstat(path)).mode & 0o077) !== 0) await chmod(path, FOLDER_MODE);
    return;
  }
  for (let made = path; made.length >= first.length; made = dirname(made)) await syncFolder(dirname(made));
}

/** Writes a new file of mode 0600 and syncs it to the disk. Its folder is not synced. */
export async function writeNewFile(path: string, text: string): Promise<void> {
  const file = await open(path, "wx", FILE_MODE);
  try {
    await file.chmod(FILE_MODE);
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
}

/**
 * Replaces a file as a whole: after a crash at any moment it is the old file or the new one. One writer at a time.
 *
 * @param durable false for a file that can be made again after a power failure
 */
export async function replaceFile(path: string, text: string, durable = true): Promise<void> {
  const draft = `${path}.tmp`;
  const write = () => (durable ? writeNewFile(draft, text) : writeFile(draft, text, { flag: "wx", mode: FILE_MODE }));
  await write().catch(async (error: unknown) => {
    if (!hasCode(error, "EEXIST")) throw error;
    // What a crash left there: it could be a link by now.
    await rm(draft, { force: true });
    await write();
  });
  await rename(draft, path);
  if (durable) await syncFolder(dirname(path));
}

/**
 * Removes a file, if there is one.
 *
 * @throws with code ENOTDIR if it would be reached from `root` through a link
 */
export async function removeFile(path: string, root: string): Promise<void> {
  await assertNoLink(dirname(path), root);
  await rm(path, { force: true });
}

/** Syncs a folder's entries to the disk: what was renamed into it or removed from it. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

/**
 * Reads a JSON file of ours; undefined if there is none.
 *
 * @throws naming the file, if something else has written to it
 */
export async function readJson(path: string): Promise<unknown> {
  const text = await readFile(path, "utf8").catch(whenMissing(undefined));
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error(`${path} is not the JSON that keyplane wrote there`, { cause: error });
  }
}

/** Returns a handler for `.catch`: a fallback if the file or folder is not there; every other error is thrown again. */
export function whenMissing<T>(fallback: T): (error: unknown) => T {
  return (error) => {
    if (hasCode(error, "ENOENT", "ENOTDIR")) return fallback;
    throw error;
  };
}
