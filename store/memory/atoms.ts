import { type QueryExecutorProvider, type RawBuilder, sql } from "kysely";
import type { Db } from "../database/change.ts";
import { withOrderedPlans } from "../database/ordered-plans.ts";
import type { Atom, AtomFields, AtomPosition, AtomRevision, Reach } from "./atom.ts";
import { idsWithTag, newestOf, PAGE_BOUNDS, type PageBounds } from "./atom-pages.ts";

/** Why an atom was not changed: `revision` is the present one. */
type MovedOn = { readonly kind: "conflict"; readonly revision: number } | { readonly kind: "absent" };
export type Correction = { readonly kind: "corrected"; readonly atom: Atom } | MovedOn;
export type Deletion = { readonly kind: "deleted"; readonly libraryId: string } | MovedOn;

/** Ids come from callers: anything that is no id of ours names no atom, rather than failing in the database. */
const ATOM_ID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** The condition that every statement on `atoms a join libraries l` carries. */
export function reachable(reach: Reach): RawBuilder<unknown> {
  return sql`a.team_id = ${reach.teamId} and l.team_id = a.team_id and l.state = 'active'
    and (${reach.libraryIds}::text[] is null or a.library_id = any(${reach.libraryIds}::text[]))`;
}

/** The atoms of a reach, for the FROM of a statement. */
const ATOMS_IN_LIBRARIES: RawBuilder<unknown> = sql`atoms a join libraries l on l.id = a.library_id`;

/** The columns of {@link toAtom}. */
export const ATOM_COLUMNS: RawBuilder<unknown> = sql`a.id, a.library_id, l.namespace, l.name, a.content, a.tags, a.source,
  a.importance, extract(epoch from a.created_at)::float8 * 1000 as created_ms,
  extract(epoch from a.updated_at)::float8 * 1000 as updated_ms, a.revision`;

export type AtomRow = {
  id: string;
  library_id: string;
  namespace: string;
  name: string;
  content: string;
  tags: string[];
  source: string | null;
  importance: number;
  created_ms: number;
  updated_ms: number;
  revision: number;
};

/** A row of {@link ATOM_COLUMNS} as an atom. */
export function toAtom(row: AtomRow): Atom {
  return {
    id: row.id,
    library: { id: row.library_id, namespace: row.namespace, name: row.name },
    content: row.content,
    tags: row.tags,
    source: row.source,
    importance: row.importance,
    createdAt: Math.round(row.created_ms),
    updatedAt: Math.round(row.updated_ms),
    revision: row.revision,
  };
}

type AtomDraft = AtomFields & {
  readonly libraryId: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
};

/**
 * Stores an atom in a library of the reach.
 *
 * @returns undefined when the library is not there to this caller
 */
export async function insertAtom(
  db: QueryExecutorProvider,
  reach: Reach,
  { libraryId, at, content, tags, source, importance }: AtomDraft,
): Promise<Atom | undefined> {
  const { rows } = await sql<AtomRow>`
    with a as (
      insert into atoms (library_id, team_id, content, tags, source, importance, created_at, updated_at)
      select l.id, l.team_id, ${content}, ${[...tags]}::text[], ${source}::text,
        ${importance}::float8, ${new Date(at)}::timestamptz, ${new Date(at)}::timestamptz
      from libraries l
      where l.id = ${libraryId} and l.team_id = ${reach.teamId} and l.state = 'active'
        and (${reach.libraryIds}::text[] is null or l.id = any(${reach.libraryIds}::text[]))
      returning *
    )
    select ${ATOM_COLUMNS} from a join libraries l on l.id = a.library_id`.execute(db);
  return rows[0] && toAtom(rows[0]);
}

/**
 * One atom by its id, where the reach has it. Planned by itself, so that it is found by its id whatever stands around
 * it: before PostgreSQL 18 a sort that cannot be avoided makes all plans of a join cost the same (threats c64).
 */
export function atomOf(id: RawBuilder<unknown>, reach: Reach): RawBuilder<unknown> {
  return sql`(select ${ATOM_COLUMNS}, a.created_at from atoms a join libraries l on l.id = a.library_id
    where a.id = ${id} and ${reachable(reach)} offset 0)`;
}

/** The atoms of these ids that the reach has, newest first. */
export async function findAtoms(db: QueryExecutorProvider, reach: Reach, ids: readonly string[]): Promise<Atom[]> {
  const known = [...new Set(ids.filter((id) => ATOM_ID.test(id)))];
  if (known.length === 0) return [];
  const { rows } = await sql<AtomRow>`
    select a.* from unnest(${known}::uuid[]) known (id) cross join lateral ${atomOf(sql`known.id`, reach)} a
    order by a.created_at desc, a.id desc`.execute(db);
  return rows.map(toAtom);
}

/** One page of the reach's atoms, newest first, from behind `after`. */
export async function listAtoms(
  db: Db,
  reach: Reach,
  page: {
    readonly libraryId: string | null;
    readonly tag: string | null;
    readonly after: AtomPosition | null;
    readonly limit: number;
  },
  bounds: PageBounds = PAGE_BOUNDS,
): Promise<Atom[]> {
  const { tag, limit, libraryId, after } = page;
  const list = { reach, libraryId, after };
  if (tag !== null) return findAtoms(db, reach, await idsWithTag(db, { ...list, tag }, limit, bounds));
  const { rows } = await withOrderedPlans(db, (tx) =>
    sql<AtomRow>`select ${ATOM_COLUMNS} from ${newestOf(list, limit)}`.execute(tx),
  );
  return rows.map(toAtom);
}

type AtomPatch = Partial<AtomFields> & {
  /** The revision that the caller has seen, or null to correct whichever is present. */
  readonly expected: number | null;
  /** Milliseconds since the epoch. */
  readonly at: number;
};

/** Replaces fields of an atom; the earlier revision is kept. */
export async function correctAtom(
  db: QueryExecutorProvider,
  reach: Reach,
  id: string,
  { expected, at, ...changes }: AtomPatch,
): Promise<Correction> {
  if (!ATOM_ID.test(id)) return { kind: "absent" };
  const set = [
    changes.content === undefined ? null : sql`content = ${changes.content}`,
    changes.tags === undefined ? null : sql`tags = ${[...changes.tags]}::text[]`,
    changes.source === undefined ? null : sql`source = ${changes.source}::text`,
    changes.importance === undefined ? null : sql`importance = ${changes.importance}::float8`,
    sql`updated_at = greatest(a.updated_at, ${new Date(at)}::timestamptz)`,
    sql`revision = a.revision + 1`,
  ].filter((assignment) => assignment !== null);
  const { rows } = await sql<AtomRow>`
    update atoms a set ${sql.join(set)} from libraries l
    where l.id = a.library_id and a.id = ${id}::uuid and ${reachable(reach)}
      and (${expected}::integer is null or a.revision = ${expected}::integer)
    returning ${ATOM_COLUMNS}`.execute(db);
  if (rows[0]) return { kind: "corrected", atom: toAtom(rows[0]) };
  return whatStands(db, reach, id);
}

/** An atom's revisions, newest first, those below `before` where it is given; undefined when there is no such atom. */
export async function listRevisions(
  db: QueryExecutorProvider,
  reach: Reach,
  id: string,
  page: { readonly before: number | null; readonly limit: number },
): Promise<AtomRevision[] | undefined> {
  const [present] = await findAtoms(db, reach, [id]);
  if (present === undefined) return undefined;
  const { rows } = await sql<Omit<AtomRow, "created_ms">>`
    select r.revision, r.content, r.tags, r.source, r.importance, extract(epoch from r.updated_at)::float8 * 1000 as updated_ms
    from (
      select id as atom_id, revision, content, tags, source, importance, updated_at from atoms
      union all
      select atom_id, revision, content, tags, source, importance, updated_at from atom_revisions
    ) r join ${ATOMS_IN_LIBRARIES} on a.id = r.atom_id
    where r.atom_id = ${id}::uuid and ${reachable(reach)}
      and (${page.before}::integer is null or r.revision < ${page.before}::integer)
    order by r.revision desc
    limit ${page.limit}`.execute(db);
  return rows.map((row) => ({
    revision: row.revision,
    content: row.content,
    tags: row.tags,
    source: row.source,
    importance: row.importance,
    updatedAt: Math.round(row.updated_ms),
  }));
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
  if (!ATOM_ID.test(id)) return { kind: "absent" };
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
