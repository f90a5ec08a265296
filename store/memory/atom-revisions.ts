import { type QueryExecutorProvider, sql } from "kysely";
import type { AtomRevision, Reach } from "./atom.ts";
import { ATOMS_IN_LIBRARIES, type AtomRow, fieldsOf, findAtoms, linksWithin, reachable } from "./atoms.ts";

const COLUMNS = sql`revision, content, tags, source, importance, metadata, links, expires_at, updated_at`;

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
    select r.revision, r.content, r.tags, r.source, r.importance, r.metadata,
      ${linksWithin(reach, sql`r.links`)} as links, extract(epoch from r.expires_at)::float8 * 1000 as expires_ms,
      extract(epoch from r.updated_at)::float8 * 1000 as updated_ms
    from (
      select id as atom_id, ${COLUMNS} from atoms union all select atom_id, ${COLUMNS} from atom_revisions
    ) r join ${ATOMS_IN_LIBRARIES} on a.id = r.atom_id
    where r.atom_id = ${id}::uuid and ${reachable(reach)}
      and (${page.before}::integer is null or r.revision < ${page.before}::integer)
    order by r.revision desc
    limit ${page.limit}`.execute(db);
  return rows.map((row) => ({
    revision: row.revision,
    ...fieldsOf(row),
    updatedAt: Math.round(row.updated_ms),
  }));
}
