import { permits } from "../../domain/access/authorize.ts";
import type { KeyRecord } from "../../domain/access/key-record.ts";
import { rfc3339Millis } from "../../domain/rfc3339.ts";
import { libraryName } from "../../server/libraries/libraries.ts";
import type { LibraryUser } from "../../server/libraries/library-use.ts";
import type { AtomChanges } from "../request/atom-fields.ts";
import type { Atom, AtomFields, AtomLink, AtomMetadata, AtomRevision } from "../store/rows/atom.ts";

/** Atom as REST and MCP show it. */
export type AtomJson = {
  readonly id: string;
  /** Name of the library as this key writes it: `name`, or `namespace/name` for a library in another namespace. */
  readonly library: string;
  readonly content: string;
  readonly tags: readonly string[];
  readonly source: string | null;
  readonly importance: number;
  readonly metadata: AtomMetadata;
  /** Links to atoms that this key may read. */
  readonly links: readonly AtomLink[];
  /** Time of expiry, in RFC 3339; null for never. */
  readonly expiresAt: string | null;
  /** Times from which and until which the statement is true, in RFC 3339; null if it is not said. */
  readonly validFrom: string | null;
  readonly validTo: string | null;
  /** Times of creation and of the last change, in RFC 3339. */
  readonly created: string;
  readonly updated: string;
  readonly revision: number;
  /** True if all subjects share it, false if it is the subject's own; left out if the call is for no subject. */
  readonly shared?: boolean;
};

export function atomJson(key: KeyRecord, atom: Atom): AtomJson {
  return {
    id: atom.id,
    library: libraryName(key, atom.library),
    ...fieldsJson(atom),
    created: rfc3339Millis(atom.createdAt),
    updated: rfc3339Millis(atom.updatedAt),
    revision: atom.revision,
    ...(atom.isShared !== undefined && { shared: atom.isShared }),
  };
}

/** Returns an atom that a call has read, and notes the use of its library. */
export function readAtomJson({ key, noteLibrary }: LibraryUser, atom: Atom): AtomJson {
  noteLibrary(atom.library.id);
  return atomJson(key, atom);
}

/** Atom that was corrected: for a key that may not read it, only what the correction itself says. */
type CorrectedAtomJson = Pick<AtomJson, "id" | "updated" | "revision"> & Partial<AtomJson>;

export function correctedJson(key: KeyRecord, atom: Atom, changes: AtomChanges): CorrectedAtomJson {
  const whole = atomJson(key, atom);
  if (permits(key, "atoms.get")) return whole;
  const { id, updated, revision } = whole;
  const said = Object.fromEntries(Object.entries(whole).filter(([field]) => Object.hasOwn(changes, field)));
  return { id, ...said, updated, revision };
}

function fieldsJson({ expiresAt, validFrom, validTo, ...fields }: AtomFields) {
  const { content, tags, source, importance, metadata, links } = fields;
  return {
    ...{ content, tags, source, importance, metadata, links },
    expiresAt: timeJson(expiresAt),
    validFrom: timeJson(validFrom),
    validTo: timeJson(validTo),
  };
}

function timeJson(ms: number | null): string | null {
  return ms === null ? null : rfc3339Millis(ms);
}

/** Revision of an atom. */
export type AtomRevisionJson = Omit<AtomJson, "id" | "library" | "created">;

export function revisionJson(revision: AtomRevision): AtomRevisionJson {
  return {
    revision: revision.revision,
    ...fieldsJson(revision),
    updated: rfc3339Millis(revision.updatedAt),
  };
}

/** Returns an atom as exports have it, for an import: without what belongs to its former place. */
export function atomLine({ id, createdAt, updatedAt, ...atom }: Atom) {
  return { id, ...fieldsJson(atom), created: rfc3339Millis(createdAt), updated: rfc3339Millis(updatedAt) };
}
