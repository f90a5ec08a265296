import { type QueryExecutorProvider, type RawBuilder, sql } from "kysely";
import type { Reach } from "../../../domain/access/reach.ts";
import { InvalidAtomError } from "../../../store/database/errors.ts";
import { preparedStatement } from "../../../store/database/prepared-statement.ts";
import { isReachable, isWritable, WHOLE_LIBRARY_ID } from "../../../store/libraries/reachable-libraries.ts";
import { sketchOf } from "../../rules/near-duplicate.ts";
import type { Atom, AtomFields, AtomLink } from "../rows/atom.ts";
import { type AtomRow, atomColumns, findAtoms, isAtomId, linkRule, reachable, toAtom } from "../rows/atoms.ts";
import { storedSketch } from "./near-duplicates.ts";

/**
 * Reason why an atom was not changed: another `revision` is present, no such atom is there, or it is shared and no
 * subject's own.
 */
export type UnchangedAtom =
  | { readonly kind: "conflict"; readonly revision: number }
  | { readonly kind: "absent" }
  | { readonly kind: "shared" };
export type Correction = { readonly kind: "corrected"; readonly atom: Atom } | UnchangedAtom;
/** Result of a deletion; `libraryId` is the library's id as callers know it. */
export type Deletion = { readonly kind: "deleted"; readonly libraryId: string } | UnchangedAtom;

/** Atom as it is to be stored. */
export type AtomDraft = AtomFields & {
  readonly libraryId: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** Time of the last change, for an atom that has a past elsewhere; `at` if left out. */
  readonly updatedAt?: number;
};

/**
 * Stores an atom in a library of the reach, under the row that `openLibrary` gives for it.
 *
 * @returns undefined if the library is not there for this caller
 * @throws InvalidAtomError for a link that leads nowhere
 */
export async function insertAtom(
  db: QueryExecutorProvider,
  reach: Reach,
  { libraryId, at, updatedAt = at, ...fields }: AtomDraft,
): Promise<Atom | undefined> {
  const { content, tags, source, importance, metadata, links, expiresAt, validFrom, validTo } = fields;
  await assertLinksLead(db, reach, links);
  const { rows } = await sql<AtomRow>`${preparedStatement}
    with a as (
      insert into atoms (library_id, team_id, content, tags, source, importance, metadata, links, expires_at,
        valid_from, valid_to, sketch, created_at, updated_at)
      select l.id, l.team_id, ${content}, ${[...tags]}::text[], ${source}::text, ${importance}::float8,
        ${JSON.stringify(metadata)}::jsonb, ${JSON.stringify(links)}::jsonb, ${timeOrNull(expiresAt)}::timestamptz,
        ${timeOrNull(validFrom)}::timestamptz, ${timeOrNull(validTo)}::timestamptz,
        ${storedSketch(sql`l.id`, sketchOf(content))}, ${new Date(at)}::timestamptz, ${new Date(updatedAt)}::timestamptz
      from libraries l
      where l.id = ${libraryId} and ${isReachable(reach)} and ${isWritable(reach)}
      returning *
    )
    select ${atomColumns(reach)} from a join libraries l on l.id = a.library_id`.execute(db);
  return rows[0] && toAtom(rows[0]);
}

type AtomPatch = Partial<AtomFields> & {
  /** The revision that the caller has seen, or null to correct whichever is present. */
  readonly expected: number | null;
  /** Milliseconds since the epoch. */
  readonly at: number;
};

/**
 * Replaces fields of an atom; the earlier revision is kept.
 *
 * @param db a transaction, to be rolled back if this throws
 * @throws InvalidAtomError for a link that leads nowhere, and for an atom that would never be valid
 */
export async function correctAtom(
  db: QueryExecutorProvider,
  reach: Reach,
  id: string,
  patch: AtomPatch,
): Promise<Correction> {
  if (!isAtomId(id)) return { kind: "absent" };
  if (patch.links !== undefined) await assertLinksLead(db, reach, patch.links);
  return replaceFields(db, reach, id, patch);
}

/**
 * Replaces fields of an atom as {@link correctAtom} does, its links by those that the caller has looked up.
 *
 * @throws InvalidAtomError for an atom that would never be valid
 */
export async function replaceFields(
  db: QueryExecutorProvider,
  reach: Reach,
  id: string,
  { expected, at, ...changes }: AtomPatch,
): Promise<Correction> {
  const set = [
    changes.content === undefined ? null : sql`content = ${changes.content}`,
    changes.content === undefined ? null : sql`sketch = ${storedSketch(sql`l.id`, sketchOf(changes.content))}`,
    changes.tags === undefined ? null : sql`tags = ${[...changes.tags]}::text[]`,
    changes.source === undefined ? null : sql`source = ${changes.source}::text`,
    changes.importance === undefined ? null : sql`importance = ${changes.importance}::float8`,
    changes.metadata === undefined ? null : sql`metadata = ${JSON.stringify(changes.metadata)}::jsonb`,
    changes.links === undefined ? null : sql`links = ${JSON.stringify(changes.links)}::jsonb`,
    changes.expiresAt === undefined ? null : sql`expires_at = ${timeOrNull(changes.expiresAt)}::timestamptz`,
    changes.validFrom === undefined ? null : sql`valid_from = ${timeOrNull(changes.validFrom)}::timestamptz`,
    changes.validTo === undefined ? null : sql`valid_to = ${timeOrNull(changes.validTo)}::timestamptz`,
    sql`updated_at = greatest(a.updated_at, ${new Date(at)}::timestamptz)`,
    sql`revision = a.revision + 1`,
  ].filter((assignment) => assignment !== null);
  const { rows } = await sql<AtomRow>`
    update atoms a set ${sql.join(set)} from libraries l
    where ${isAtRevision(reach, id, expected)}
    returning ${atomColumns(reach)}`.execute(db);
  if (rows[0] === undefined) return whyUnchanged(db, reach, id);
  const atom = toAtom(rows[0]);
  assertEverValid(atom);
  return { kind: "corrected", atom };
}

/**
 * Tries of a deletion: an atom that is forgotten or restored meanwhile is in neither table as the first statement sees
 * them, and in one of them as the next does.
 */
const MAX_LOOKS = 2;

/**
 * Deletes an atom with its revisions, for ever, whether it is present or was forgotten and is still kept.
 *
 * @param expected the revision that the caller has seen, or null to delete whichever is present
 */
export async function deleteAtom(
  db: QueryExecutorProvider,
  reach: Reach,
  id: string,
  expected: number | null,
): Promise<Deletion> {
  if (!isAtomId(id)) return { kind: "absent" };
  const deletedFrom = (table: string) => sql`delete from ${sql.table(table)} a using libraries l
    where ${isAtRevision(reach, id, expected)} returning ${WHOLE_LIBRARY_ID} as library_id`;
  for (let time = 1; time <= MAX_LOOKS; time++) {
    const { rows } = await sql<{ library_id: string }>`
      with present as (${deletedFrom("atoms")}), forgotten as (${deletedFrom("forgotten_atoms")})
      select library_id from present union all select library_id from forgotten`.execute(db);
    if (rows[0]) return { kind: "deleted", libraryId: rows[0].library_id };
  }
  return whyUnchanged(db, reach, id);
}

/** Returns the condition of the row `a` of an atom, present or forgotten, and of its library `l`. */
export function isAtRevision(reach: Reach, id: string, expected: number | null): RawBuilder<unknown> {
  return sql`l.id = a.library_id and a.id = ${id}::uuid and ${reachable(reach)} and ${isWritable(reach)}
    and (${expected}::integer is null or a.revision = ${expected}::integer)`;
}

/** Returns the reason why no row of the atom was at the expected revision. */
export async function whyUnchanged(db: QueryExecutorProvider, reach: Reach, id: string): Promise<UnchangedAtom> {
  const { subject, ...shared } = reach;
  if (subject !== undefined && (await findAtoms(db, shared, [id])).length > 0) return { kind: "shared" };
  const [present] = await findAtoms(db, reach, [id]);
  return present ? { kind: "conflict", revision: present.revision } : { kind: "absent" };
}

/** @throws InvalidAtomError for an atom whose validity ends before it begins */
export function assertEverValid({ validFrom, validTo }: Pick<AtomFields, "validFrom" | "validTo">): void {
  if (validFrom === null || validTo === null || validFrom < validTo) return;
  throw new InvalidAtomError(
    '"validTo" is not after "validFrom": give a later one, or null for one of them where it is not known.',
  );
}

/**
 * Throws for a link that may not lead where it does. An atom beyond the reach and an atom that is not there are the
 * same: a link leads to what its writer may read.
 *
 * @throws InvalidAtomError for the first such link
 */
async function assertLinksLead(db: QueryExecutorProvider, reach: Reach, links: readonly AtomLink[]): Promise<void> {
  const ruleOf = await linkRule(db, reach, links);
  for (const [index, link] of links.entries()) {
    const rule = ruleOf(link);
    if (rule === "allowed") continue;
    throw new InvalidAtomError(
      rule === "unknown"
        ? `"links.${index}.id" names no atom that this key may reach: look its id up, or leave the link out.`
        : `"links.${index}" would replace an atom that is shared by all subjects: give the link another rel, or leave it out.`,
    );
  }
}

function timeOrNull(ms: number | null): Date | null {
  return ms === null ? null : new Date(ms);
}
