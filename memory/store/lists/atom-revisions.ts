import { type QueryExecutorProvider, sql } from "kysely";
import type { Reach } from "../../../domain/access/reach.ts";
import { type ListPage, PAGE_BYTES, type PageSize } from "../../../store/libraries/page.ts";
import type { AtomRevision } from "../rows/atom.ts";
import { ATOMS_IN_LIBRARIES, type AtomRow, fieldsOf, findAtoms, linksWithin, reachable } from "../rows/atoms.ts";
import { bytesBefore, storedBytes } from "../rows/atoms-within.ts";

const COLUMNS = sql`revision, content, tags, source, importance, metadata, links, expires_at, valid_from,
  valid_to, updated_at`;

/** Revisions of an atom, newest first, only those below `before` if it is given; `libraryId` is the atom's library. */
type AtomRevisions = ListPage<AtomRevision> & { readonly libraryId: string };

/** Returns the revisions of an atom, or undefined if there is no such atom. */
export async function listRevisions(
  db: QueryExecutorProvider,
  reach: Reach,
  id: string,
  {
    before,
    limit,
    bytes = PAGE_BYTES,
  }: Pick<PageSize, "bytes"> & { readonly before: number | null; readonly limit: number },
): Promise<AtomRevisions | undefined> {
  const [present] = await findAtoms(db, reach, [id]);
  if (present === undefined) return undefined;
  const { rows } = await sql<Omit<AtomRow, "created_ms"> & { found: number }>`
    select r.revision, r.content, r.tags, r.source, r.importance, r.metadata, r.found,
      ${linksWithin(reach, sql`r.links`)} as links, extract(epoch from r.expires_at)::float8 * 1000 as expires_ms,
      extract(epoch from r.valid_from)::float8 * 1000 as valid_from_ms,
      extract(epoch from r.valid_to)::float8 * 1000 as valid_to_ms,
      extract(epoch from r.updated_at)::float8 * 1000 as updated_ms
    from (
      select a.*, row_number() over (order by a.revision desc) as place, count(*) over ()::integer as found,
        ${bytesBefore(sql`a.revision desc`)} as before
      from (
        select a.*, ${storedBytes({})} as bytes from (
          select id as atom_id, ${COLUMNS} from atoms union all select atom_id, ${COLUMNS} from atom_revisions
        ) a
        where a.atom_id = ${id}::uuid and (${before}::integer is null or a.revision < ${before}::integer)
        order by a.revision desc limit ${limit + 1}
      ) a
    ) r
    where r.place <= ${limit} and r.before < ${bytes}
      and exists (select from ${ATOMS_IN_LIBRARIES} where a.id = r.atom_id and ${reachable(reach)} offset 0)
    order by r.revision desc`.execute(db);
  const items = rows.map((row) => ({
    revision: row.revision,
    ...fieldsOf(row),
    updatedAt: Math.round(row.updated_ms),
  }));
  return { items, isMore: items.length < (rows[0]?.found ?? 0), libraryId: present.library.id };
}
