/** Walks through the folder of manifests: which files there are, and in what state the folders are. */
import type { BigIntStats } from "node:fs";
import { readdir, realpath, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { errorText } from "../../../../domain/error-text.ts";
import { whenMissing } from "../disk.ts";

const MAX_DEPTH = 32;
/** What the names of manifests end in. */
export const MANIFEST_EXTENSIONS = [".yaml", ".yml", ".json"];

/** Whether a path is that of a file that is looked into, by its name. */
export function isManifestPath(path: string): boolean {
  const name = basename(path);
  return !name.startsWith(".") && MANIFEST_EXTENSIONS.some((extension) => name.endsWith(extension));
}

/** A folder, or whatever stands at a path that is neither a folder nor a manifest: a link to a folder, say. */
export type FoundEntry =
  | { readonly is: "folder"; readonly device: string; readonly isEmpty: boolean }
  | { readonly is: "other" };

export type FoundFiles = {
  /** Every manifest with its path below the folder, in their order. */
  readonly files: readonly (readonly [name: string, stats: BigIntStats])[];
  /** The folder's own path, without links. */
  readonly root: string;
  /** What else there is, by its path below the folder, which itself is "". */
  readonly places: ReadonlyMap<string, FoundEntry>;
  /** Why the folder, or something in it, could not be looked into. */
  readonly problems: readonly string[];
};

/**
 * Looks for manifests in a folder and those below it. Names that begin with a dot are not looked at; links to files
 * are, links to folders are not followed.
 *
 * @param except a folder that is not looked into, by whatever path `root` leads to it
 */
export async function findFiles(root: string, except: string | undefined): Promise<FoundFiles> {
  const files: [string, BigIntStats][] = [];
  const places = new Map<string, FoundEntry>();
  const problems: string[] = [];

  async function search(folder: string, depth: number): Promise<void> {
    const path = join(root, folder);
    const { dev, ino } = await stat(path, { bigint: true });
    if (dev === skipped?.dev && ino === skipped.ino) return;
    const entries = (await readdir(path, { withFileTypes: true })).filter(({ name }) => !name.startsWith("."));
    places.set(folder, { is: "folder", device: String(dev), isEmpty: entries.length === 0 });
    for (const entry of entries) {
      const name = folder === "" ? entry.name : `${folder}/${entry.name}`;
      try {
        await visit(name, entry, depth);
      } catch (error) {
        problems.push(errorText(error));
      }
    }
  }

  async function visit(name: string, entry: { name: string; isDirectory(): boolean }, depth: number): Promise<void> {
    if (entry.isDirectory()) {
      if (depth < MAX_DEPTH) await search(name, depth + 1);
      return;
    }
    if (isManifestPath(entry.name)) {
      const stats = await stat(join(root, name), { bigint: true });
      if (stats.isFile()) {
        files.push([name, stats]);
        return;
      }
    }
    places.set(name, { is: "other" });
  }

  let real = root;
  let skipped: BigIntStats | undefined;
  try {
    real = await realpath(root);
    if (except !== undefined) skipped = await stat(except, { bigint: true }).catch(whenMissing(undefined));
    await search("", 0);
  } catch (error) {
    problems.push(errorText(error));
  }
  return { files: files.sort(([a], [b]) => (a < b ? -1 : 1)), root: real, places, problems };
}
