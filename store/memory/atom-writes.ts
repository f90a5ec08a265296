import { type QueryExecutorProvider, sql } from "kysely";
import { sketchOf } from "../../domain/memory/near-duplicate.ts";
import { InvalidAtomError } from "../database/errors.ts";
import type { Atom, AtomFields, AtomLink, Reach } from "./atom.ts";
import { type AtomRow, atomColumns, findAtoms, isAtomId, presentIds, reachable, toAtom } from "./atoms.ts";
import { storedSketch } from "./near-duplicates.ts";
import { isReachable } from "./reachable-libraries.ts";

/** Why an atom was not changed: `revision` is the present one. */
type MovedOn = { readonly kind: "conflict"; readonly revision: number } | { readonly kind: "absent" };
export type Correction = { readonly kind: "corrected"; readonly atom: Atom } | MovedOn;
export type Deletion = { readonly kind: "deleted"; readonly libraryId: string } | MovedOn;

type AtomDraft = AtomFields & {
  readonly libraryId: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** Of an atom that has a past elsewhere; as `at` where it is left out. */
  readonly updatedAt?: number;
};

/**
 * Stores an atom in a library of the reach.
 *
 * @returns undefined when the library is not there to this caller
 * @throws InvalidAtomError for a link that leads nowhere
 */
export async function insertAtom(
  db: QueryExecutorProvider,
  reach: Reach,
  { libraryId, at, updatedAt = at, ...fields }: AtomDraft,
): Promise<Atom | undefined> {
  const { content, tags, source, importance, metadata, links, expiresAt } = fields;
  await assertLinksLead(db, reach, links);
  const { rows } = await sql<AtomRow>`
    with a as (
      insert into atoms (library_id, team_id, content, tags, source, importance, metadata, links, expires_at,
        sketch, created_at, updated_at)
      select l.id, l.team_id, ${content}, ${[...tags]}::text[], ${source}::text, ${importance}::float8,
        ${JSON.stringify(metadata)}::jsonb, ${JSON.stringify(links)}::jsonb, ${timeOrNull(expiresAt)}::timestamptz,
        ${storedSketch(sql`l.id`, sketchOf(content))}, ${new Date(at)}::timestamptz, ${new Date(updatedAt)}::timestamptz
      from libraries l
      where l.id = ${libraryId} and ${isReachable(reach)}
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
 * @throws InvalidAtomError for a link that leads nowhere
 */
export async function correctAtom(
  db: QueryExecutorProvider,
  reach: Reach,
  id: string,
  { expected, at, ...changes }: AtomPatch,
): Promise<Correction> {
  if (!isAtomId(id)) return { kind: "absent" };
  if (changes.links !== undefined) await assertLinksLead(db, reach, changes.links);
  const set = [
    changes.content === undefined ? null : sql`content = ${changes.content}`,
    changes.content === undefined ? null : sql`sketch = ${storedSketch(sql`l.id`, sketchOf(changes.content))}`,
    changes.tags === undefined ? null : sql`tags = ${[...changes.tags]}::text[]`,
    changes.source === undefined ? null : sql`source = ${changes.source}::text`,
    changes.importance === undefined ? null : sql`importance = ${changes.importance}::float8`,
    changes.metadata === undefined ? null : sql`metadata = ${JSON.stringify(changes.metadata)}::jsonb`,
    changes.links === undefined ? null : sql`links = ${JSON.stringify(changes.links)}::jsonb`,
    changes.expiresAt === undefined ? null : sql`expires_at = ${timeOrNull(changes.expiresAt)}::timestamptz`,
    sql`updated_at = greatest(a.updated_at, ${new Date(at)}::timestamptz)`,
    sql`revision = a.revision + 1`,
  ].filter((assignment) => assignment !== null);
  const { rows } = await sql<AtomRow>`
    update atoms a set ${sql.join(set)} from libraries l
    where l.id = a.library_id and a.id = ${id}::uuid and ${reachable(reach)}
      and (${expected}::integer is null or a.revision = ${expected}::integer)
    returning ${atomColumns(reach)}`.execute(db);
  if (rows[0]) return { kind: "corrected", atom: toAtom(rows[0]) };
  return whatStands(db, reach, id);
}

/**
 * Deletes an atom with its revisions.
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
  const { rows } = await sql<{ library_id: string }>`
    delete from atoms a using libraries l
    where l.id = a.library_id and a.id = ${id}::uuid and ${reachable(reach)}
      and (${expected}::integer is null or a.revision = ${expected}::integer)
    returning a.library_id`.execute(db);
  if (rows[0]) return { kind: "deleted", libraryId: rows[0].library_id };
  return whatStands(db, reach, id);
}

async function whatStands(db: QueryExecutorProvider, reach: Reach, id: string): Promise<MovedOn> {
  const [present] = await findAtoms(db, reach, [id]);
  return present ? { kind: "conflict", revision: present.revision } : { kind: "absent" };
}

/** One that is beyond the reach and one that is not there are the same: a link leads to what its writer may read. */
async function assertLinksLead(db: QueryExecutorProvider, reach: Reach, links: readonly AtomLink[]): Promise<void> {
  const ids = links.map(({ id }) => id);
  const present = await presentIds(db, reach, ids);
  const astray = ids.findIndex((id) => !present.has(id));
  if (astray < 0) return;
  throw new InvalidAtomError(
    `"links.${astray}.id" names no atom that this key may reach: look its id up, or leave the link out.`,
  );
}

function timeOrNull(ms: number | null): Date | null {
  return ms === null ? null : new Date(ms);
}
