import { lstat, readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { errorMessage } from "../../domain/error-text.ts";
import { hasCode } from "../../runtime/error-code.ts";

/** File to search, or a path that cannot be searched, with the reason. */
export type ScannedPath = { readonly path: Buffer; readonly why?: string };

/**
 * Lists the files that paths name, and all files below folders, hidden ones too. A link or a pipe is followed or read
 * only if a path names it, so there is no circle. Below folders, links, pipes, sockets and devices are left out.
 */
export async function* filesBelow(paths: readonly string[]): AsyncGenerator<ScannedPath> {
  for (const path of paths) yield* below(Buffer.from(path), true);
}

/**
 * Lists the files at and below a path.
 *
 * @param path path in bytes: a name need not be UTF-8, and decoding it could lose bytes
 */
async function* below(path: Buffer, isNamed: boolean): AsyncGenerator<ScannedPath> {
  try {
    const found = await (isNamed ? stat : lstat)(path);
    if (found.isDirectory()) for (const name of await readdir(path, "buffer")) yield* below(inside(path, name), false);
    else if (found.isFile() || (isNamed && found.isFIFO())) yield { path };
    else if (isNamed) yield { path, why: "is neither a file, nor a folder, nor a pipe" };
  } catch (error) {
    // What is gone by the time that it is looked at is not there.
    if (!isNamed && hasCode(error, "ENOENT")) return;
    yield { path, why: errorMessage(error) };
  }
}

/** Joins two paths without loss: each byte becomes a character in between. */
function inside(folder: Buffer, name: Buffer): Buffer {
  return Buffer.from(join(folder.toString("latin1"), name.toString("latin1")), "latin1");
}
