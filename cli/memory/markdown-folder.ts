/** Folder of Markdown as atoms, one for each file, linked as the files are. */
import { constants } from "node:fs";
import { type FileHandle, open, readdir } from "node:fs/promises";
import { basename, join, posix, resolve } from "node:path";
import { errorMessage } from "../../domain/error-text.ts";
import { unreadableBecause } from "../../runtime/unreadable-because.ts";
import { UsageError } from "../command/usage-error.ts";
import { readPage } from "./front-matter.ts";
import { type ImportItem, type ImportReading, idFor, type LeftOut, oldestFirst } from "./import-item.ts";
import { readMarkdownAtom } from "./markdown-atom.ts";
import { type Note, type RelatedLink, readNote } from "./markdown-note.ts";
import { atomsOf, type StatedRelation } from "./statement.ts";

/** Limits of what one import reads of a folder. */
export type FolderLimits = { readonly files: number; readonly fileBytes: number; readonly bytes: number };
const LIMITS: FolderLimits = { files: 20_000, fileBytes: 1_048_576, bytes: 268_435_456 };

/** File read as an exported atom, or as a note. */
type Read = { readonly path: string; readonly id: string } & ({ readonly item: ImportItem } | { readonly note: Note });

/**
 * Reads the Markdown files below a folder. Hidden files and symbolic links are skipped. A file that is too large or
 * cannot be read is left out and named.
 *
 * @throws UsageError for a folder that has none or too many, or cannot be read
 */
export async function readMarkdownFolder(folder: string, limits: FolderLimits = LIMITS): Promise<ImportReading> {
  const source = basename(resolve(folder));
  const leftOut: LeftOut[] = [];
  const paths = await markdownBelow(folder, limits.files, leftOut);
  if (paths.length === 0 && leftOut.length === 0) {
    throw new UsageError(`${folder} has no file that ends with .md: nothing was imported`);
  }
  const files: Read[] = [];
  const ids = new Map<string, string>();
  let bytes = 0;
  for (const path of paths) {
    try {
      const { text, modifiedAt, size } = await readText(join(folder, path), limits.fileBytes);
      bytes += size;
      if (bytes > limits.bytes) throw tooMuch(folder, `more than ${limits.bytes} bytes of Markdown`);
      const page = readPage(text);
      const item = readMarkdownAtom(page, path);
      const note = () => noteFile(readNote(page, path, modifiedAt), source, ids);
      const file = item === undefined ? note() : { path, id: String(page.matter.atom), item };
      const before = ids.get(file.id);
      if (before !== undefined)
        throw new Error(`it is the atom of ${before} again: take "atom" out of the one that is new`);
      ids.set(file.id, path);
      files.push(file);
    } catch (error) {
      if (error instanceof UsageError) throw error;
      leftOut.push({ what: path, why: errorMessage(error) });
    }
  }
  return { ...linked(files, source), leftOut };
}

function tooMuch(folder: string, what: string): UsageError {
  return new UsageError(`${folder} has ${what}: import the folders in it one by one`);
}

/** Identifies a note by its permalink, which it keeps when moved, or else by its path. */
function noteFile(note: Note, source: string, taken: ReadonlyMap<string, string>): Read {
  const { path, permalink } = note;
  const id = idFor(source, permalink ?? path);
  return { path, id: taken.has(id) ? idFor(source, path) : id, note };
}

/** Lists the Markdown files below a folder, sorted by path, with `/` between the parts of a path. */
async function markdownBelow(folder: string, most: number, leftOut: LeftOut[]): Promise<string[]> {
  const found: string[] = [];
  const folders = [""];
  for (let below = folders.pop(); below !== undefined; below = folders.pop()) {
    const entries = await readdir(join(folder, below), { withFileTypes: true }).catch((error: unknown) => {
      if (below === "") throw new UsageError(`${folder}: ${unreadableBecause(error)}`);
      leftOut.push({ what: below ?? "", why: unreadableBecause(error) });
      return [];
    });
    for (const entry of entries) {
      if (entry.name.startsWith(".")) continue;
      const path = posix.join(below, entry.name);
      if (entry.isDirectory()) folders.push(path);
      else if (entry.isFile() && /\.md$/i.test(entry.name)) found.push(path);
    }
    if (found.length > most) throw tooMuch(folder, `more than ${most} files of Markdown`);
  }
  return found.sort();
}

/** Text of a file, with its size in bytes and the time of its last change, in milliseconds since the epoch. */
type ReadFile = { readonly text: string; readonly size: number; readonly modifiedAt: number };

/**
 * Reads the text of a file.
 *
 * @throws Error for anything but a regular file in UTF-8 of at most `most` bytes
 */
async function readText(path: string, most: number): Promise<ReadFile> {
  // By then it may be a link, or a pipe.
  const file = await open(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0)).catch(
    (error: unknown) => {
      throw new Error(unreadableBecause(error));
    },
  );
  try {
    return await readOpen(file, most);
  } finally {
    await file.close();
  }
}

async function readOpen(file: FileHandle, most: number): Promise<ReadFile> {
  const found = await file.stat();
  if (!found.isFile()) throw new Error("it is no file");
  if (found.size > most) throw new Error(`it has ${found.size} bytes, of ${most} at most: split it`);
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(await file.readFile());
    return { text, modifiedAt: Math.round(found.mtimeMs), size: found.size };
  } catch (error) {
    throw error instanceof TypeError ? new Error("it is no text in UTF-8: convert it") : error;
  }
}

/** Returns the items of all files, with links to one another by title, path, alias and permalink. */
function linked(files: readonly Read[], source: string): Pick<ImportReading, "items" | "strayLinks"> {
  const names = namesOf(files);
  let strayLinks = 0;
  const items = files.flatMap((file) => {
    if ("item" in file) return [file.item];
    const { note, path, id } = file;
    const relations = note.links.flatMap((link): StatedRelation[] => {
      const target = targetOf(link, path, names);
      if (target !== undefined) return [{ rel: link.rel, id: target, text: `${link.rel} [[${link.target}]]` }];
      if (!link.isEmbed) strayLinks++;
      return [];
    });
    const { title, content, tags, facts, times } = note;
    return atomsOf({
      ...{ where: path, id, title, content, tags, facts, times, relations },
      source: `${source}/${path}`,
    });
  });
  return { items: oldestFirst(items), strayLinks };
}

function nameOf(text: string): string {
  return text.normalize("NFC").toLowerCase().replace(/\.md$/, "");
}

/**
 * Maps each name in a link to the id of the file that it means: a path first; of several files with the name, the
 * nearest to the top.
 */
function namesOf(files: readonly Read[]): ReadonlyMap<string, string> {
  const names = new Map(files.map(({ path, id }) => [nameOf(path), id]));
  const depthOf = ({ path }: Read) => path.split("/").length;
  for (const file of files.toSorted((one, other) => depthOf(one) - depthOf(other))) {
    const parts = file.path.split("/");
    const { title = "", permalink = "", aliases = [] } = "note" in file ? file.note : {};
    for (const called of [...parts.map((_, at) => parts.slice(at).join("/")), title, permalink, ...aliases]) {
      const name = nameOf(called);
      if (!names.has(name)) names.set(name, file.id);
    }
  }
  return names;
}

/**
 * Finds the target of a link. A file in the folder of the linking file comes before other files of that name; a leading
 * `/` stands for the imported folder.
 */
function targetOf({ target }: RelatedLink, from: string, names: ReadonlyMap<string, string>): string | undefined {
  if (target.startsWith("/")) return names.get(nameOf(posix.normalize(target).slice(1)));
  return names.get(nameOf(posix.join(posix.dirname(from), target))) ?? names.get(nameOf(target));
}
