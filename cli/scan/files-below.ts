import { lstat, opendir, stat } from "node:fs/promises";
import { join } from "node:path";
import { errorMessage } from "../../domain/error-text.ts";

/** A file to look into, or what could not be looked into, and why. */
export type ScannedPath = { readonly path: string; readonly why?: string };

/**
 * The files that paths name, and all below folders, hidden ones too. A link is followed where it was named, and nowhere
 * below: so there is no circle. Pipes, sockets and devices are left out.
 */
export async function* filesBelow(paths: readonly string[]): AsyncGenerator<ScannedPath> {
  for (const path of paths) yield* below(path, true);
}

async function* below(path: string, isNamed: boolean): AsyncGenerator<ScannedPath> {
  try {
    const found = await (isNamed ? stat : lstat)(path);
    if (found.isFile()) yield { path };
    if (!found.isDirectory()) return;
    for await (const { name } of await opendir(path)) yield* below(join(path, name), false);
  } catch (error) {
    // What is gone by the time that it is looked at is not there.
    if (!isNamed && error instanceof Error && "code" in error && error.code === "ENOENT") return;
    yield { path, why: errorMessage(error) };
  }
}
