import { readdirSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { isManifestPath } from "../../controller/cluster/files/manifests/find-files.ts";
import { errorText } from "../../domain/error-text.ts";
import type { Kind, Spec } from "../../domain/kinds/kinds.ts";
import type { Diagnostic } from "../../domain/manifest/document/diagnostic.ts";
import { isRecord, readManifestIdentity } from "../../domain/manifest/document/identity.ts";
import { MAX_FILE_BYTES, type ManifestDocument, parseManifests } from "../../domain/manifest/document/parse.ts";
import type { SetEntry } from "../../domain/manifest/set/manifest-set.ts";
import { readManifest } from "../../domain/manifest/validation/validate.ts";
import { STDIN } from "../command/command.ts";
import { UsageError } from "../command/usage-error.ts";
import { isDataFolder } from "../data/data-folder.ts";
import { readBounded } from "./bounded-file.ts";

/** Looks up the stored spec of an object, to check immutable fields; undefined for a new object. */
type StoredSpec = (kind: Kind, namespace: string, name: string) => Spec | undefined;

/** Reads standard input if one of the paths stands for it, until it is longer than a file of manifests may be. */
export async function readStdin(paths: readonly string[]): Promise<Uint8Array | undefined> {
  if (!paths.includes(STDIN)) return undefined;
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of process.stdin) {
    pieces.push(piece);
    bytes += piece.length;
    if (bytes > MAX_FILE_BYTES) break;
  }
  return Buffer.concat(pieces);
}

/** Flags that name files, none for arguments, and whether `-` is standard input for them. */
const READS_STDIN = { "--filename ": true, "": true, "--base ": false, "--price-list ": false };

/**
 * Checks that all paths exist.
 *
 * @param flag flag that names the paths; empty if they are arguments
 * @throws UsageError for a path that does not exist, and for standard input where it is not read
 */
export function assertPresent(paths: readonly string[], flag: keyof typeof READS_STDIN = "--filename "): void {
  if (!READS_STDIN[flag] && paths.includes(STDIN)) {
    throw new UsageError(`${flag}${STDIN}: standard input is not read here: write it to a file, and name that`);
  }
  const absent = paths.find((path) => path !== STDIN && statSync(path, { throwIfNoEntry: false }) === undefined);
  if (absent !== undefined) throw new UsageError(`${flag}${absent}: there is no such file or folder`);
}

/**
 * Lists the manifests of several paths, as {@link listManifestFiles} does, and each once: a file that several paths lead
 * to is named by the first.
 *
 * @throws UsageError for a path that does not exist
 */
export function listDeclaredFiles(paths: readonly string[]): string[] {
  assertPresent(paths);
  const byPlace = new Map<string, string>();
  for (const file of paths.flatMap(listManifestFiles)) {
    // A link to a file is another file, as it is for `up`.
    const place = file === STDIN ? file : join(realpathSync(dirname(file)), basename(file));
    if (!byPlace.has(place)) byPlace.set(place, file);
  }
  return [...byPlace.values()];
}

/**
 * Lists a file, pipe or device as named, or the manifests in a folder and below, sorted by name. Dot files and data
 * folders of `up` are left out, and in folders, as `up` does, pipes, and links to devices, pipes and folders.
 */
function listManifestFiles(path: string): string[] {
  if (path === STDIN || !statSync(path).isDirectory()) return [path];
  return readdirSync(path, { withFileTypes: true })
    .filter(({ name }) => !name.startsWith("."))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const inner = join(path, entry.name);
      if (entry.isDirectory()) return isDataFolder(inner) ? [] : listManifestFiles(inner);
      return isManifestPath(inner) && mayBeFile(inner) ? [inner] : [];
    });
}

/** True if a path leads to a file, or to nothing that can be looked at: the reading says why. */
function mayBeFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    return true;
  }
}

type FileOptions = {
  readonly storedSpec?: StoredSpec;
  /** Bytes of standard input, for the path that stands for it. */
  readonly stdin?: Uint8Array | undefined;
  /** Predicate of kinds whose encrypted values may stay unread, as `readManifest` takes it. */
  readonly mayBeUnread?: Parameters<typeof readManifest>[3];
};

/** Reads a file: its documents, and the faults in each document by itself. */
export function readManifestFile(
  path: string,
  { storedSpec = () => undefined, stdin, mayBeUnread }: FileOptions = {},
): { file: string; entries: SetEntry[]; diagnostics: Diagnostic[]; passedOver: number } {
  const file = path === STDIN ? "<stdin>" : path;
  let content: string | Uint8Array;
  try {
    content = path === STDIN ? (stdin ?? "") : readBounded(path, MAX_FILE_BYTES);
  } catch (error) {
    const message = `cannot be read: ${errorText(error)}`;
    const diagnostic: Diagnostic = { severity: "error", file, line: 1, column: 1, path: "", message };
    return { file, entries: [], diagnostics: [diagnostic], passedOver: 0 };
  }
  const { documents, diagnostics, passedOver } = parseManifests(content, file);
  const entries = documents.map((document) => ({
    document,
    read: readManifest(document, specOf(document, storedSpec), Date.now(), mayBeUnread),
  }));
  return {
    file,
    passedOver,
    entries,
    diagnostics: [...diagnostics, ...entries.flatMap(({ read }) => read.diagnostics)],
  };
}

function specOf({ value }: ManifestDocument, storedSpec: StoredSpec): Spec | undefined {
  const identity = isRecord(value) ? readManifestIdentity(value).identity : undefined;
  if (identity === undefined || identity.kind === "Secret") return undefined;
  return storedSpec(identity.kind, identity.namespace, identity.name);
}
