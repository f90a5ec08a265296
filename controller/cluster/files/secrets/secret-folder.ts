/**
 * Reads what is in one Secret's folder. It is untrusted, since any process may have put it there: links are never
 * followed, only regular files are read, and what is too large is left out.
 */
import { constants } from "node:fs";
import { lstat, open, opendir } from "node:fs/promises";
import { join } from "node:path";
import { secretData } from "../../../../domain/secret-data.ts";
import { hasCode } from "../../../../runtime/error-code.ts";
import { standingAt, whenMissing } from "../disk.ts";
import { dataKeyPath, isDataKey } from "../paths.ts";

/** Largest number of bytes: as many as a Secret of Kubernetes holds. */
const MAX_BYTES = 2 ** 20;
const MAX_ENTRIES = 1024;
const READ_ONLY = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/**
 * Returns a text of the names, inodes, times and sizes in a folder: it is equal while the folder is untouched.
 * undefined if nothing is there.
 */
export async function identifyFolder(folder: string, root: string): Promise<string | undefined> {
  const standing = await standingAt(folder, root);
  if (standing === "nothing") return undefined;
  if (standing !== "folder") return "no folder";
  const parts: string[] = [];
  for (const entry of await entriesOf(folder)) {
    const file = await lstat(join(folder, entry), { bigint: true }).catch(whenMissing(undefined));
    if (file !== undefined) parts.push([entry, file.ino, file.size, file.mtimeNs, file.ctimeNs].join(":"));
  }
  return parts.length === 0 ? undefined : parts.join("/");
}

/** Reads the data, as text by data key. */
export async function readFolder(folder: string, root: string): Promise<Record<string, string>> {
  if ((await standingAt(folder, root)) !== "folder") return secretData([]);
  const data: [string, string][] = [];
  let bytesLeft = MAX_BYTES;
  for (const key of (await entriesOf(folder)).filter(isDataKey)) {
    const content = await readRegularFile(dataKeyPath(folder, key), bytesLeft);
    if (content === undefined) continue;
    bytesLeft -= content.length;
    data.push([key, content.toString("utf8")]);
  }
  return secretData(data);
}

/** Returns the sorted names in a folder, at most as many as a Secret can have. */
async function entriesOf(folder: string): Promise<string[]> {
  const names: string[] = [];
  try {
    for await (const entry of await opendir(folder)) {
      names.push(entry.name);
      if (names.length === MAX_ENTRIES) break;
    }
  } catch (error) {
    whenMissing(undefined)(error);
  }
  return names.sort();
}

async function readRegularFile(path: string, bytesLeft: number): Promise<Buffer | undefined> {
  const file = await open(path, READ_ONLY).catch((error: unknown) => {
    if (hasCode(error, "ENOENT", "ELOOP", "ENXIO", "EMLINK")) return undefined;
    throw error;
  });
  if (file === undefined) return undefined;
  try {
    const { size } = await file.stat().then((stat) => (stat.isFile() ? stat : { size: Number.POSITIVE_INFINITY }));
    if (size > bytesLeft) return undefined;
    const content = Buffer.alloc(size);
    const { bytesRead } = await file.read(content, 0, size, 0);
    return content.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}
