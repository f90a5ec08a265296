/** Atom as a Markdown file, for people and their editors. Importing the file gives the same atom. */
import { writeYaml } from "../../domain/manifest/document/write-yaml.ts";
import type { Page } from "./front-matter.ts";
import { type ImportItem, isUuid } from "./import-item.ts";

/** Largest number of characters of the first line in a file name. File systems allow 255 bytes. */
const MAX_NAME = 40;

/** Names of devices on Windows, which no file can have there. */
const RESERVED = /^(con|prn|aux|nul|com\d|lpt\d)$/;

type ExportedAtom = { readonly id: string; readonly content: string; readonly [field: string]: unknown };

/** Returns the file of an atom: front matter with its id as `atom` and all its fields, then its content unchanged. */
export function markdownOf({ id, content, ...fields }: ExportedAtom): string {
  const said = Object.entries(fields).filter(([, value]) => !isEmpty(value));
  return `---\n${writeYaml({ atom: id, ...Object.fromEntries(said) })}---\n\n${content}\n`;
}

function isEmpty(value: unknown): boolean {
  return value === null || (typeof value === "object" && Object.keys(value ?? {}).length === 0);
}

/** Reads the atom of such a file; undefined for any other Markdown. */
export function readMarkdownAtom({ matter: { atom, ...fields }, body }: Page, where: string): ImportItem | undefined {
  if (!isUuid(atom)) return undefined;
  return { where, atom: { ...fields, id: atom, content: body.replace(/^\n/, "").replace(/\n$/, "") } };
}

/**
 * Returns the file name of an atom: letters and digits of its first line, so that no text leads to another folder, and
 * the end of its id, which is its own.
 *
 * @throws Error for an id that a Keyplane server does not give, and that may lead out of the folder
 */
export function markdownName({ id, content }: ExportedAtom, isWholeId: boolean): string {
  if (!isUuid(id)) throw new Error("the server gave an atom whose id is no UUID: see that it is a keyplane server");
  const [first = ""] = content.trimStart().split("\n", 1);
  const words = Array.from(
    first
      .normalize("NFC")
      .toLowerCase()
      .replace(/[^\p{L}\p{M}\p{N}]+/gu, "-"),
  );
  const slug = words
    .slice(0, MAX_NAME)
    .join("")
    .replace(/^-+|-+$/g, "");
  const named = slug === "" || RESERVED.test(slug) ? "atom" : slug;
  return `${named}-${isWholeId ? id : id.slice(-12)}.md`;
}
