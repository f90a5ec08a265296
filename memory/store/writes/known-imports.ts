/** Records of the atoms that were imported into a library, by the ids that they had where they come from. */
import { hash } from "node:crypto";
import { sql } from "kysely";
import type { Reach } from "../../../domain/access/reach.ts";
import type { Tx } from "../../../store/database/change.ts";
import { fromDigest, toDigest } from "../../../store/database/digest.ts";
import { preparedStatement } from "../../../store/database/prepared-statement.ts";
import type { AtomFields, AtomLink } from "../rows/atom.ts";
import { ATOMS_IN_LIBRARIES, findAtoms, isAtomId, reachable } from "../rows/atoms.ts";

/** Atom of the library that an imported atom stands for. */
export type KnownImport = {
  readonly id: string;
  /** Digests, by {@link digestOfStatement}: of its record, and of the library's own atom as the caller reads it. */
  readonly said: readonly string[];
  /** Revision that says it. */
  readonly revision: number;
  /** Its links, also those that lead beyond the caller's reach. */
  readonly links: readonly AtomLink[];
  /** True if some of its links lead to atoms that were not imported, and may come yet. */
  readonly hasOpenLinks: boolean;
  /**
   * Time of the last change, in milliseconds since the epoch, of the library's own atom that has no record, or was
   * changed since; null for an atom of a record, of which only a change of the file counts.
   */
  readonly updatedAt: number | null;
};

/** Returns the digest of what an atom says, without its times of creation and change: SHA-256, 32 latin1 characters. */
export function digestOfStatement({
  content,
  tags,
  source,
  importance,
  metadata,
  links,
  ...times
}: AtomFields): string {
  const { expiresAt, validFrom, validTo } = times;
  const facts = Object.entries(metadata).sort(([one], [other]) => (one < other ? -1 : 1));
  const led = links.map(({ rel, id }) => [rel, id]);
  const said = [content, tags, source, importance, facts, led, expiresAt, validFrom, validTo];
  return hash("sha256", JSON.stringify(said), "binary");
}

/**
 * Returns the atoms of a library that these former ids mean: an atom that was imported under it, or that has it as its
 * own id. These are locked. A second import into the library waits for the first, and finds the atoms that it has made.
 */
export async function knownImports(
  tx: Tx,
  reach: Reach,
  libraryId: string,
  formerIds: readonly string[],
): Promise<ReadonlyMap<string, KnownImport>> {
  // An atom that another import makes cannot be locked before it is there, nor in one order with the others after.
  await sql`select pg_advisory_xact_lock(hashtextextended(${`imports of library ${libraryId}`}, 0))`.execute(tx);
  const locked = await lockKnown(tx, libraryId, formerIds);
  const known = new Map<string, KnownImport>();
  for (const { formerId, said, ...recorded } of await readRecords(tx, reach, libraryId, formerIds)) {
    const links = locked.get(recorded.id);
    if (links !== undefined) known.set(formerId, { ...recorded, said: [said], links, updatedAt: null });
  }
  const own = formerIds.filter((id) => locked.has(id) && (known.get(id)?.id ?? id) === id);
  for (const atom of await findAtoms(tx, reach, own)) {
    const { id, revision, updatedAt } = atom;
    const links = locked.get(id) ?? [];
    const { said, ...recorded } = known.get(id) ?? { id, revision, said: [], links, hasOpenLinks: false, updatedAt };
    known.set(id, { ...recorded, said: [...said, digestOfStatement(atom)] });
  }
  return known;
}

/**
 * Locks the atoms of a library that these former ids mean, in one order: what is compared with them is not corrected
 * meanwhile, and no two transactions wait for each other.
 *
 * @returns their links, by their ids
 */
async function lockKnown(
  tx: Tx,
  libraryId: string,
  formerIds: readonly string[],
): Promise<ReadonlyMap<string, readonly AtomLink[]>> {
  const { rows } = await sql<{
    id: string;
    links: AtomLink[];
  }>`${preparedStatement} select a.id::text, a.links from atoms a
    where a.library_id = ${libraryId} and a.id = any(${formerIds.filter(isAtomId)}::uuid[] || array(
      select atom_id from imported_atoms where library_id = ${libraryId} and former_id = any(${formerIds}::text[])))
    order by a.id for no key update of a`.execute(tx);
  return new Map(rows.map(({ id, links }) => [id, links]));
}

type KnownRow = {
  former_id: string;
  id: string;
  said: Uint8Array;
  revision: number;
  has_open_links: boolean;
};

/** Reads records, without those of the library's own atoms that were changed since: these are as they are now. */
async function readRecords(
  tx: Tx,
  reach: Reach,
  libraryId: string,
  formerIds: readonly string[],
): Promise<ImportRecord[]> {
  const { rows } = await sql<KnownRow>`${preparedStatement}
    select i.former_id, a.id::text, i.said, i.revision, i.has_open_links
    from imported_atoms i, lateral (select a.id, a.revision from ${ATOMS_IN_LIBRARIES}
      where a.id = i.atom_id and a.library_id = i.library_id and ${reachable(reach)} offset 0) a
    where i.library_id = ${libraryId} and i.former_id = any(${formerIds}::text[])
      and (i.former_id <> a.id::text or i.revision = a.revision)`.execute(tx);
  return rows.map(({ former_id: formerId, id, said, revision, has_open_links: hasOpenLinks }) => ({
    ...{ formerId, id, revision, hasOpenLinks },
    said: fromDigest(said),
  }));
}

/** Returns the ids of a library's atoms, by the former ids under which they were imported. */
export async function importedIds(
  tx: Tx,
  reach: Reach,
  libraryId: string,
  formerIds: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (formerIds.length === 0) return new Map();
  const records = await readRecords(tx, reach, libraryId, formerIds);
  return new Map(records.map(({ formerId, id }) => [formerId, id]));
}

/** Record that an import leaves of an atom. */
export type ImportRecord = Pick<KnownImport, "id" | "revision" | "hasOpenLinks"> & {
  readonly formerId: string;
  readonly said: string;
};

/** Records the atoms of an import, no former id twice. */
export async function recordImports(tx: Tx, libraryId: string, imported: readonly ImportRecord[]): Promise<void> {
  if (imported.length === 0) return;
  const rows = imported.map(({ formerId, id, said, revision, hasOpenLinks }) => ({
    ...{ former_id: formerId, atom_id: id, said: toDigest(said).toString("hex"), revision },
    has_open_links: hasOpenLinks,
  }));
  await sql`${preparedStatement} insert into imported_atoms
      (library_id, former_id, atom_id, said, revision, has_open_links)
    select ${libraryId}, former_id, atom_id, decode(said, 'hex'), revision, has_open_links
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
      made (former_id text, atom_id uuid, said text, revision integer, has_open_links boolean)
    on conflict (library_id, former_id) do update set atom_id = excluded.atom_id, said = excluded.said,
      revision = excluded.revision, has_open_links = excluded.has_open_links`.execute(tx);
}
