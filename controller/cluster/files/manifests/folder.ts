/**
 * Reader of the folder of manifests, file by file. A change of a file counts once the file has been left alone for a
 * moment, since half of a file can be a valid declaration; until then its former content counts.
 */
import type { BigIntStats } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { errorText } from "../../../../domain/error-text.ts";
import { MAX_FILE_BYTES, parseManifests } from "../../../../domain/manifest/document/parse.ts";
import type { Arrivals } from "./arrivals.ts";
import { type FoundFiles, findFiles, isManifestPath } from "./find-files.ts";
import { type Ending, endingOf, isBeginning, isCutShort } from "./manifest-text.ts";

/** Milliseconds for which a file must have been left alone. */
export const QUIET_MS = 200;

export type ParsedFile = ReturnType<typeof parseManifests> & {
  /** Path of the file as messages name it. */
  readonly path: string;
  /** Path of the file below the folder. */
  readonly name: string;
  readonly text: string;
  /** Text that differs for each content, and differs again once the file is moved or written anew. */
  readonly identity: string;
  /** Inode of the file that the path leads to, with its device. */
  readonly inode: string;
  /**
   * True if this content came to its path by a rename, as far as that can be detected; false for a file that was there
   * when the reader was made.
   */
  readonly cameWhole: boolean;
  readonly ending: Ending;
  /** True if the text is the beginning of what the file held before, up to the middle of a document. */
  readonly isCutShort: boolean;
};

export type FolderReading = Pick<FoundFiles, "root" | "foundEntries"> & {
  /** Files in the order of their paths. */
  readonly files: readonly ParsedFile[];
  /**
   * Files that came, went, have a different content than at the reading before, or came by a rename now and not then.
   * "" if the folders differ, or an entry that is no file at the path of a manifest, or if all can be read again.
   */
  readonly changed: readonly string[];
  /** Files that were not read since they are being written: read again soon. */
  readonly pending: readonly string[];
  /** Reason why the folder, or something in it, could not be read; undefined if all could. */
  readonly unreadable: string | undefined;
};

type KnownFile = {
  identity: string;
  inode: string;
  written: string;
  /** Operation that made the file as it is: a rename to its path, a write there, or one of the two. */
  cameBy: "rename" | "writing" | "either";
  firstSeen: number;
  /** Last text of the file that was not the beginning of an earlier text of it. */
  whole: string;
  readAs: ParsedFile | undefined;
};

export type FolderReaderOptions = {
  readonly root: string;
  readonly clock: { now(): number; monotonic(): number };
  readonly arrivals: Pick<Arrivals, "take">;
  /** Folder that is not looked into: DATA may be among the manifests. */
  readonly except?: string;
};

/** Makes a reader that remembers what it read: each call reads what is new. */
export function createFolderReader(options: FolderReaderOptions): () => Promise<FolderReading> {
  const { root, clock, arrivals, except } = options;
  let known = new Map<string, KnownFile>();
  let folders: unknown;
  let wasReadable = true;

  return async function readFolder() {
    const { files: found, problems: unfound, ...now } = await findFiles(root, except);
    const problems = [...unfound];
    const before = known;
    known = new Map();
    const foldersNow = [
      now.root,
      [...now.foundEntries].filter(([name, { is }]) => is === "folder" || isManifestPath(name)),
    ];
    const changed = isDeepStrictEqual(foldersNow, folders) ? [] : [""];
    const pending: string[] = [];
    for (const [name, stats] of found) {
      const file = before.get(name) ?? newFile();
      known.set(name, file);
      note(file, stats);
      if (file.readAs?.identity === file.identity) continue;
      if (!isQuiet(file, stats)) {
        pending.push(name);
        continue;
      }
      try {
        const was = file.readAs;
        if (!(await read(name, file, stats))) pending.push(name);
        else if (file.readAs?.text !== was?.text || file.readAs?.cameWhole !== was?.cameWhole) changed.push(name);
      } catch (error) {
        problems.push(errorText(error));
      }
    }
    changed.push(...[...before.keys()].filter((name) => !known.has(name)));
    if (problems.length === 0 && !wasReadable) changed.push("");
    wasReadable = problems.length === 0;
    folders = foldersNow;
    const files = [...known.values()].flatMap(({ readAs }) => readAs ?? []);
    return { ...now, files, changed, pending, unreadable: problems[0] };
  };

  function newFile(): KnownFile {
    const unread = { identity: "", inode: "", written: "", firstSeen: 0, whole: "", readAs: undefined };
    return { ...unread, cameBy: "writing" };
  }

  /** Notes the state of a file. */
  function note(file: KnownFile, stats: BigIntStats): void {
    const identity = identityOf(stats);
    if (file.identity === identity) return;
    const inode = inodeOf(stats);
    const written = `${stats.size}:${stats.mtimeNs}`;
    if (file.inode !== inode) file.cameBy = folders === undefined ? "writing" : wasMoved(stats) ? "rename" : "either";
    else if (file.written !== written) file.cameBy = "writing";
    Object.assign(file, { identity, inode, written, firstSeen: clock.monotonic() });
  }

  /**
   * True if a file has been left alone, by its own time, or, if clocks differ, by how long we have seen it unchanged.
   */
  function isQuiet(file: KnownFile, stats: BigIntStats): boolean {
    const age = clock.now() - Number(stats.ctimeMs);
    return age >= QUIET_MS || clock.monotonic() - file.firstSeen >= QUIET_MS;
  }

  /** Reads a file. Resolves with true if it stayed unchanged meanwhile. */
  async function read(name: string, file: KnownFile, stats: BigIntStats): Promise<boolean> {
    const path = join(root, name);
    if (stats.size > MAX_FILE_BYTES) throw new Error(`${path} is larger than ${MAX_FILE_BYTES >> 20} MiB: split it`);
    const bytes = await readFile(path);
    const text = bytes.toString();
    const { identity, inode } = file;
    if (identityOf(await stat(path, { bigint: true })) !== identity) return false;
    const isArrival = arrivals.take(name);
    if (file.cameBy === "either") file.cameBy = isArrival ? "rename" : "writing";
    const cameWhole = file.cameBy === "rename";
    if (cameWhole || !isBeginning(text, file.whole)) file.whole = text;
    const parsed = file.readAs?.text === text ? file.readAs : parseManifests(bytes, path);
    const { documents, diagnostics, passedOver } = parsed;
    const state = { ending: endingOf(text), isCutShort: isCutShort(text, file.whole) };
    file.readAs = { path, name, text, identity, inode, cameWhole, documents, diagnostics, passedOver, ...state };
    return true;
  }
}

/**
 * True if a file was moved since it was written: a write sets both times to one moment, a rename only the time of the
 * inode. A file that was created at its path and is still being written is as new there as a file that was renamed
 * there. If a write and a rename fall within one tick of the file system's clock, up to 10 ms, only the notifications
 * show which of them it was (arrivals.ts).
 */
const wasMoved = ({ mtimeNs, ctimeNs }: BigIntStats) => ctimeNs > mtimeNs;
const inodeOf = ({ dev, ino }: BigIntStats) => `${dev}:${ino}`;
const identityOf = (stats: BigIntStats) => [inodeOf(stats), stats.size, stats.mtimeNs, stats.ctimeNs].join(":");
