import { lstat, readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { errorMessage } from "../../domain/error-text.ts";
import { hasCode } from "../../runtime/error-code.ts";

/** A file to look into, or what could not be looked into, and why. */
export type ScannedPath = { readonly path: Buffer; readonly why?: string };

/**
 * The files that paths name, and all below folders, hidden ones too. A link is followed where it was named, and nowhere
 * below: so there is no circle. A pipe is read where it was named. Below, pipes, sockets and devices are left out.
 */
export async function* filesBelow(paths: readonly string[]): AsyncGenerator<ScannedPath> {
  for (const path of paths) yield* below(Buffer.from(path), true);
}

/** @param path in bytes: a name need not be UTF-8, and one that was decoded in vain would name nothing */
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

/** Each byte is a character meanwhile, so that none is lost. */
function inside(folder: Buffer, name: Buffer): Buffer {
  return Buffer.from(join(folder.toString("latin1"), name.toString("latin1")), "latin1");
}
