/**
 * Reads the folder of manifests, file by file. A file counts once it has been left alone for a moment, since half of a
 * file can be a valid declaration; until then it is what it was before.
 */
import type { BigIntStats } from "node:fs";
import { readdir, readFile, stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import { MAX_FILE_BYTES, parseManifests } from "../../../domain/manifest/parse.ts";

/** How long a file must have been left alone. Milliseconds. */
const QUIET_MS = 200;
const MOST_DEPTH = 32;
const MANIFEST = /^[^.].*\.(ya?ml|json)$/s;

export type ParsedFile = { readonly path: string } & ReturnType<typeof parseManifests>;

export type FolderReading = {
  /** In the order of their paths. */
  readonly files: readonly ParsedFile[];
  /** Whether anything differs from the reading before, be it only that a file is being written. */
  readonly changed: boolean;
  /** Whether a file was not looked into since it is being written: read again soon. */
  readonly pending: boolean;
  /** Why the folder, or something in it, could not be read. */
  readonly unreadable: string | undefined;
};

type KnownFile = {
  identity: string;
  firstSeen: number;
  readAs: { identity: string; text: string; parsed: ParsedFile } | undefined;
};

/**
 * Makes a reader that remembers what it read: each call reads what is new.
 *
 * @param except a folder below `root` that is not looked into: DATA may lie beside the manifests
 */
export function createFolderReader(
  root: string,
  clock: { now(): number; monotonic(): number },
  except?: string,
): () => Promise<FolderReading> {
  let known = new Map<string, KnownFile>();

  return async function readFolder() {
    const problems: string[] = [];
    const found = await findFiles(root, except, problems);
    const before = known;
    known = new Map();
    let changed = false;
    let pending = false;
    for (const [path, stats] of found) {
      const identity = identityOf(stats);
      const file = before.get(path) ?? { identity: "", firstSeen: 0, readAs: undefined };
      known.set(path, file);
      if (file.identity !== identity) {
        changed = true;
        file.identity = identity;
        file.firstSeen = clock.monotonic();
      }
      if (file.readAs?.identity === identity) continue;
      if (!isQuiet(file, stats)) {
        pending = true;
        continue;
      }
      try {
        const read = await readManifest(path, stats, file.readAs);
        if (identityOf(await stat(path, { bigint: true })) === identity) file.readAs = { identity, ...read };
        else pending = true;
      } catch (error) {
        problems.push(describe(error));
      }
    }
    if ([...before.keys()].some((path) => !known.has(path))) changed = true;
    const files = [...known.values()].flatMap(({ readAs }) => (readAs === undefined ? [] : [readAs.parsed]));
    return { files, changed, pending, unreadable: problems[0] };
  };

  /** By the file's own time, or, where clocks differ, by how long we have seen it like this. */
  function isQuiet(file: KnownFile, stats: BigIntStats): boolean {
    const age = clock.now() - Number(stats.ctimeMs);
    return age >= QUIET_MS || clock.monotonic() - file.firstSeen >= QUIET_MS;
  }
}

async function readManifest(
  path: string,
  stats: BigIntStats,
  before: KnownFile["readAs"],
): Promise<{ text: string; parsed: ParsedFile }> {
  if (stats.size > MAX_FILE_BYTES) throw new Error(`${path} is larger than ${MAX_FILE_BYTES >> 20} MiB: split it`);
  const text = await readFile(path, "utf8");
  if (before?.text === text) return { text, parsed: before.parsed };
  return { text, parsed: { path, ...parseManifests(text, path) } };
}

/** Every manifest below a folder, by path. Names that begin with a dot are not looked at; links to files are. */
async function findFiles(
  root: string,
  except: string | undefined,
  problems: string[],
): Promise<[string, BigIntStats][]> {
  const skipped = except === undefined ? undefined : resolve(except);
  const found: [string, BigIntStats][] = [];

  async function search(folder: string, depth: number): Promise<void> {
    const entries = await readdir(folder, { withFileTypes: true });
    for (const entry of entries) {
      const path = join(folder, entry.name);
      try {
        if (entry.isDirectory()) {
          const skip = entry.name.startsWith(".") || depth === MOST_DEPTH || resolve(path) === skipped;
          if (!skip) await search(path, depth + 1);
        } else if (MANIFEST.test(entry.name)) {
          const stats = await stat(path, { bigint: true });
          if (stats.isFile()) found.push([path, stats]);
        }
      } catch (error) {
        problems.push(describe(error));
      }
    }
  }

  await search(root, 0).catch((error: unknown) => problems.push(describe(error)));
  return found.sort(([a], [b]) => (a < b ? -1 : 1));
}

const identityOf = ({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats) => [dev, ino, size, mtimeNs, ctimeNs].join(":");

const describe = (error: unknown) => (error instanceof Error ? error.message : String(error));
