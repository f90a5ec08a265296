/** Walks through the folder of manifests: finds the manifests, and the state of the folders. */
import type { BigIntStats } from "node:fs";
import { readdir, realpath, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { errorText } from "../../../../domain/error-text.ts";
import { whenMissing } from "../disk.ts";

const MAX_DEPTH = 32;
/** Endings of the names of manifests. */
export const MANIFEST_EXTENSIONS = [".yaml", ".yml", ".json"];

/** True if the file of a path is read as a manifest, by its name. */
export function isManifestPath(path: string): boolean {
  const name = basename(path);
  return !name.startsWith(".") && MANIFEST_EXTENSIONS.some((extension) => name.endsWith(extension));
}

/** Folder, or whatever is at a path and is neither a folder nor a manifest, such as a link to a folder. */
export type FoundEntry =
  | { readonly is: "folder"; readonly device: string; readonly isEmpty: boolean }
  | { readonly is: "other" };

export type FoundFiles = {
  /** Manifests with their paths below the folder, in the order of their paths. */
  readonly files: readonly (readonly [name: string, stats: BigIntStats])[];
  /** Path of the folder itself, without links. */
  readonly root: string;
  /** All other entries, by their path below the folder. The folder itself is "". */
  readonly foundEntries: ReadonlyMap<string, FoundEntry>;
  /** Reasons why the folder, or something in it, could not be looked into. */
  readonly problems: readonly string[];
};

/**
 * Finds the manifests in a folder and the folders below it. Names that begin with a dot are ignored. Links to files are
 * read; links to folders are not followed.
 *
 * @param except a folder that is not looked into, by whatever path `root` leads to it
 */
export async function findFiles(root: string, except: string | undefined): Promise<FoundFiles> {
  const files: [string, BigIntStats][] = [];
  const foundEntries = new Map<string, FoundEntry>();
  const problems: string[] = [];

  async function search(folder: string, depth: number): Promise<void> {
    const path = join(root, folder);
    const { dev, ino } = await stat(path, { bigint: true });
    if (dev === skipped?.dev && ino === skipped.ino) return;
    const entries = (await readdir(path, { withFileTypes: true })).filter(({ name }) => !name.startsWith("."));
    foundEntries.set(folder, { is: "folder", device: String(dev), isEmpty: entries.length === 0 });
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
    foundEntries.set(name, { is: "other" });
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
  return { files: files.sort(([a], [b]) => (a < b ? -1 : 1)), root: real, foundEntries, problems };
}
