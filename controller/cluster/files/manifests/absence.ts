/**
 * Reasons why a declaration is no longer in the folder of manifests, as far as the folder shows them: its author
 * removed it, or the folder is in a state that looks the same. Pure.
 */
import type { Diagnostic } from "../../../../domain/manifest/document/diagnostic.ts";
import type { FoundEntry } from "./find-files.ts";
import type { ParsedFile } from "./folder.ts";
import type { Ending } from "./manifest-text.ts";

/** Location where an object was declared, and its state when it was read there last. */
export type Origin = {
  /** Path of the file below the folder of manifests. */
  readonly file: string;
  /** Real path of the folder of manifests. */
  readonly root: string;
  /** Devices of the folders on the way to the file, the folder of manifests first. */
  readonly devices: readonly string[];
  readonly inode: string;
  readonly ending: Ending;
  /** Identity of the later content of the file that was found to be cut short; null if none was. */
  readonly cutShort: string | null;
};

export type Absence =
  /** The object's file was deleted, or replaced as a whole. */
  | { readonly is: "deliberate" }
  /** The object vanished from a file that still exists, or with its folder. */
  | { readonly is: "doubtful" }
  /** Another file declares the object the same way: nothing changes once that file counts. */
  | { readonly is: "declared alike" }
  /** The object stays. `why` has the reason, and what to do about it, in whole sentences. */
  | { readonly is: "held"; readonly why: string };

/** Present content of the folder of manifests. */
export type FolderState = {
  readonly root: string;
  readonly foundEntries: ReadonlyMap<string, FoundEntry>;
  readonly file: (name: string) => ParsedFile | undefined;
  /** First error of each file that has an error. */
  readonly diagnostics: ReadonlyMap<ParsedFile, Diagnostic>;
  /** Errors of those files that have a part too faulty to know what it declares. */
  readonly hiding: ReadonlyMap<ParsedFile, Diagnostic>;
};

/**
 * Returns why an object is no longer declared.
 *
 * @param origin the location where it was declared; undefined if that is not known
 * @param name the object's name
 */
export function explainAbsence(origin: Origin | undefined, name: string, now: FolderState): Absence {
  if (origin === undefined) return withoutOrigin(now);
  const inFolder = explainFolders(origin, now);
  const absence = inFolder ?? explainFile(origin, now);
  if (absence.is === "held") return absence;
  const hidden = [...now.hiding].find(([file]) => wordsOf(file).has(name));
  return hidden === undefined ? absence : heldByFault(hidden[1]);
}

function withoutOrigin({ diagnostics, foundEntries }: FolderState): Absence {
  const [diagnostic] = diagnostics.values();
  if (diagnostic !== undefined) return held("nothing is removed before every fault in the manifests is corrected.");
  const empty = [...foundEntries].find(([, entry]) => entry.is === "folder" && entry.isEmpty);
  return empty === undefined ? { is: "doubtful" } : emptyFolder(empty[0]);
}

/** Returns what the folders on the way to the file explain; undefined if they are as they were. */
function explainFolders(origin: Origin, { root, foundEntries }: FolderState): Absence | undefined {
  if (root !== origin.root) {
    return held(
      `they were declared in ${origin.root}, and this is ${root}. Start on that folder; ${elsewhere("them")}.`,
    );
  }
  for (const [depth, folder] of parentFolders(origin.file).entries()) {
    const entry = foundEntries.get(folder);
    if (entry === undefined) return { is: "doubtful" };
    if (entry.is !== "folder") {
      return held(`the folder ${folder} is no longer a folder. Put it back; ${elsewhere("what was in it")}.`);
    }
    if (entry.isEmpty) return emptyFolder(folder);
    if (entry.device !== origin.devices[depth]) {
      const what = folder === "" ? root : `the folder ${folder}`;
      return held(`${what} is on another device than before. Mount that; ${elsewhere("what was in it")}.`);
    }
  }
  return undefined;
}

function explainFile(origin: Origin, now: FolderState): Absence {
  const file = now.file(origin.file);
  if (file === undefined) {
    if (!now.foundEntries.has(origin.file)) return { is: "deliberate" };
    return held(`${origin.file} is no longer a file. Put it back; ${elsewhere("what was in it")}.`);
  }
  const diagnostic = now.diagnostics.get(file);
  if (diagnostic !== undefined) return heldByFault(diagnostic);
  if (file.documents.length === 0 && file.passedOver === 0) {
    return held(`${origin.file} is empty. Write it again; to end what was in it, delete it.`);
  }
  if (file.inode !== origin.inode && file.cameWhole) return { is: "deliberate" };
  const isCutOff = file.isCutShort || file.identity === origin.cutShort || endsUnlike(file, origin);
  if (isCutOff) {
    const end = "to end a key that is missing in it, declare that one with `state: Revoked`";
    return held(`${origin.file} is cut off. Write the rest of it; ${end}.`);
  }
  return { is: "doubtful" };
}

const endsUnlike = (file: ParsedFile, origin: Origin) =>
  file.ending === "within a line" && file.ending !== origin.ending;

const elsewhere = (what: string) => `to end ${what}, declare it anywhere here with \`state: Revoked\``;

function emptyFolder(folder: string): Absence {
  return held(`the folder ${folder} is empty. Put its files back; to end what was in them, remove the folder too.`);
}

function heldByFault({ file, line }: Diagnostic): Absence {
  return held(`the fault at ${file}:${line} may hide them. Correct it first.`);
}

const held = (why: string): Absence => ({ is: "held", why });

/** Returns the folders on the way to a file: `["", "a", "a/b"]` for `a/b/c.yaml`. */
export function parentFolders(file: string): string[] {
  const steps = file.split("/").slice(0, -1);
  return ["", ...steps.map((_, depth) => steps.slice(0, depth + 1).join("/"))];
}

/** Returns the devices of the folders on the way to a file, the folder of manifests first. */
export function devicesOf(file: string, foundEntries: ReadonlyMap<string, FoundEntry>): string[] {
  return parentFolders(file).map((folder) => {
    const entry = foundEntries.get(folder);
    return entry?.is === "folder" ? entry.device : "";
  });
}

const words = new WeakMap<ParsedFile, ReadonlySet<string>>();

/** Returns all words of a file that could be an object's name, wherever they are in it. */
function wordsOf(file: ParsedFile): ReadonlySet<string> {
  const known = words.get(file) ?? new Set(file.text.match(/[a-z0-9]([-a-z0-9.]*[a-z0-9])?/g));
  words.set(file, known);
  return known;
}
