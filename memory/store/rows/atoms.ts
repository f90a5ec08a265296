import { type QueryExecutorProvider, type RawBuilder, sql } from "kysely";
import type { Reach } from "../../../domain/access/reach.ts";
import { preparedStatement } from "../../../store/database/prepared-statement.ts";
import { isReachable, isWhole, isWritable, shownLibrary } from "../../../store/libraries/reachable-libraries.ts";
import { REPLACES } from "../../rules/replacement.ts";
import type { Atom, AtomFields, AtomLink, AtomMetadata } from "./atom.ts";
import { UNEXPIRED } from "./expired-atoms.ts";

const ATOM_ID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/**
 * True if an id has the form of an atom's. Ids come from callers: any other text names no atom, rather than failing in
 * the database.
 */
export function isAtomId(id: string): boolean {
  return ATOM_ID.test(id);
}

/** Returns the condition that every statement on `atoms a join libraries l` carries. */
export function reachable(reach: Reach): RawBuilder<unknown> {
  if (reach.subject !== undefined) {
    return sql`a.team_id = ${reach.teamId} and l.team_id = a.team_id and ${isReachable(reach)} and ${UNEXPIRED}`;
  }
  return sql`a.team_id = ${reach.teamId} and l.team_id = a.team_id and l.state = 'active'
    and (${reach.libraryIds}::text[] is null or a.library_id = any(${reach.libraryIds}::text[])) and ${UNEXPIRED}`;
}

/** FROM clause of a statement on the atoms of a reach. */
export const ATOMS_IN_LIBRARIES: RawBuilder<unknown> = sql`atoms a join libraries l on l.id = a.library_id`;

/**
 * Returns the columns of {@link toAtom}, for a statement on `atoms a join libraries l`.
 *
 * @param characters length of the content, from its beginning; all of it if left out
 */
export function atomColumns(reach: Reach, characters?: number): RawBuilder<unknown> {
  const content = characters === undefined ? sql`a.content` : sql`left(a.content, ${characters}::integer) as content`;
  return sql`a.id, ${shownLibrary(reach)}, ${isWhole(reach)} as is_shared, ${content}, a.tags, a.source,
    a.importance, a.metadata, ${linksWithin(reach, sql`a.links`)} as links,
    extract(epoch from a.expires_at)::float8 * 1000 as expires_ms,
    extract(epoch from a.valid_from)::float8 * 1000 as valid_from_ms,
    extract(epoch from a.valid_to)::float8 * 1000 as valid_to_ms,
    extract(epoch from a.created_at)::float8 * 1000 as created_ms,
    extract(epoch from a.updated_at)::float8 * 1000 as updated_ms, a.revision`;
}

/**
 * Returns the links of an atom or a revision, in their order, without those to atoms outside the reach. Each is looked
 * up by its id: without `offset` the planner may read all atoms of the reach once instead, if it takes them for a few.
 */
export function linksWithin(reach: Reach, links: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`case when ${links} = '[]' then ${links} else (
      select coalesce(jsonb_agg(linked.link order by linked.place), '[]')
      from jsonb_array_elements(${links}) with ordinality linked (link, place)
      where exists (select from ${ATOMS_IN_LIBRARIES} where a.id = (linked.link ->> 'id')::uuid and ${reachable(reach)}
        offset 0)
    ) end`;
}

export type AtomRow = {
  id: string;
  library_id: string;
  namespace: string;
  name: string;
  is_shared: boolean | null;
  content: string;
  tags: string[];
  source: string | null;
  importance: number;
  metadata: AtomMetadata;
  links: AtomLink[];
  expires_ms: number | null;
  valid_from_ms: number | null;
  valid_to_ms: number | null;
  created_ms: number;
  updated_ms: number;
  revision: number;
};

/** Converts a row of {@link atomColumns} to an atom. */
export function toAtom(row: AtomRow): Atom {
  return {
    id: row.id,
    library: { id: row.library_id, namespace: row.namespace, name: row.name },
    ...fieldsOf(row),
    createdAt: Math.round(row.created_ms),
    updatedAt: Math.round(row.updated_ms),
    revision: row.revision,
    ...(row.is_shared !== null && { isShared: row.is_shared }),
  };
}

type FieldsRow = Omit<
  AtomRow,
  "id" | "library_id" | "namespace" | "name" | "is_shared" | "created_ms" | "updated_ms" | "revision"
>;

/** Returns the fields that a writer has set, from a row of an atom or of a revision. */
export function fieldsOf({ expires_ms, valid_from_ms, valid_to_ms, ...row }: FieldsRow): AtomFields {
  const { content, tags, source, importance, metadata, links } = row;
  return {
    ...{ content, tags, source, importance, metadata, links },
    expiresAt: roundOrNull(expires_ms),
    validFrom: roundOrNull(valid_from_ms),
    validTo: roundOrNull(valid_to_ms),
  };
}

function roundOrNull(ms: number | null): number | null {
  return ms === null ? null : Math.round(ms);
}

/**
 * Returns the subquery of one atom by its id, empty if it is outside the reach. It is planned by itself, so that the
 * atom is found by its id whatever the statement around it: before PostgreSQL 18 a sort that cannot be avoided makes
 * all plans of a join cost the same (threats c64).
 */
export function atomOf(id: RawBuilder<unknown>, reach: Reach, characters?: number): RawBuilder<unknown> {
  return sql`(select ${atomColumns(reach, characters)}, a.created_at from atoms a join libraries l on l.id = a.library_id
    where a.id = ${id} and ${reachable(reach)} offset 0)`;
}

/** Returns the ids, of these, that are atoms of the reach. */
async function presentIds(
  db: QueryExecutorProvider,
  reach: Reach,
  ids: readonly string[],
  isLedTo: RawBuilder<unknown> = sql`true`,
): Promise<ReadonlySet<string>> {
  const known = [...new Set(ids.filter(isAtomId))];
  if (known.length === 0) return new Set();
  const { rows } = await sql<{ id: string }>`select a.id::text from ${ATOMS_IN_LIBRARIES}
    where a.id = any(${known}::uuid[]) and ${reachable(reach)} and ${isLedTo}`.execute(db);
  return new Set(rows.map(({ id }) => id));
}

/**
 * Returns a check of whether a link is allowed: it must lead to an atom of the reach (else `unknown`), and a link of
 * the kind `replaces`, since it changes how the other atom counts, to an atom that its writer may change (else
 * `shared`).
 */
export async function linkRule(
  db: QueryExecutorProvider,
  reach: Reach,
  links: readonly AtomLink[],
): Promise<(link: AtomLink) => "allowed" | "unknown" | "shared"> {
  const present = await presentIds(
    db,
    reach,
    links.map(({ id }) => id),
  );
  const replaced = reach.subject === undefined ? [] : links.filter(({ rel }) => rel === REPLACES);
  const own = await presentIds(
    db,
    reach,
    replaced.map(({ id }) => id),
    isWritable(reach),
  );
  return (link) => {
    if (!present.has(link.id)) return "unknown";
    return replaced.includes(link) && !own.has(link.id) ? "shared" : "allowed";
  };
}

/** Returns the atoms of these ids that the reach has, newest first. */
export async function findAtoms(db: QueryExecutorProvider, reach: Reach, ids: readonly string[]): Promise<Atom[]> {
  const known = [...new Set(ids.filter(isAtomId))];
  if (known.length === 0) return [];
  const { rows } = await sql<AtomRow>`${preparedStatement}
    select a.* from unnest(${known}::uuid[]) known (id) cross join lateral ${atomOf(sql`known.id`, reach)} a
    order by a.created_at desc, a.id desc`.execute(db);
  return rows.map(toAtom);
}

/** Returns the atoms of these ids that the reach has, by their id, for a list that has an order of its own. */
export async function atomsById(
  db: QueryExecutorProvider,
  reach: Reach,
  ids: readonly string[],
): Promise<ReadonlyMap<string, Atom>> {
  return new Map((await findAtoms(db, reach, ids)).map((atom) => [atom.id, atom]));
}
