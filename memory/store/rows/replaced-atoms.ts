import { type QueryExecutorProvider, type RawBuilder, sql } from "kysely";
import type { Reach } from "../../../domain/access/reach.ts";
import type { Db } from "../../../store/database/change.ts";
import { withOrderedPlans } from "../../../store/database/ordered-plans.ts";
import { preparedStatement } from "../../../store/database/prepared-statement.ts";
import { lastReplacements, REPLACES } from "../../rules/replacement.ts";
import { type AtomFilter, validThen } from "./atom-filter.ts";
import { reachable } from "./atoms.ts";
import { UNEXPIRED } from "./expired-atoms.ts";

/** Steps for which a chain of replacements is followed; the atom reached then says if it is replaced itself. */
const MAX_STEPS = 10;
/** Replacing atoms that a step reads at most. */
const MAX_REPLACING = 1_000;

/**
 * Maps each of these atoms to the atom at the end of its chain of replacements. An atom replaces another of its library
 * by a link of the kind `replaces`; if several replace one atom, the newest counts. The atoms within the chains are in
 * the map too.
 *
 * @param ids of atoms of the reach
 * @param filter of the answer that the atoms are in: its moment, or now
 */
export async function findReplacements(
  db: Db,
  reach: Reach,
  ids: readonly string[],
  filter: Pick<AtomFilter, "asOf"> = {},
): Promise<ReadonlyMap<string, string>> {
  if (ids.length === 0) return new Map();
  return withOrderedPlans(db, async (tx) => {
    const replacedBy = new Map<string, string>();
    const known = new Set<string>();
    let sought = ids;
    for (let step = 0; step < MAX_STEPS && sought.length > 0; step++) {
      for (const id of sought) known.add(id);
      const { rows: found } = await sql<{
        id: string;
        by: string;
      }>`${preparedStatement} ${newestReplacing(reach, sought, filter)}`.execute(tx);
      for (const { id, by } of found) replacedBy.set(id, by);
      sought = [...new Set(found.map(({ by }) => by))].filter((id) => !known.has(id));
    }
    return lastReplacements(replacedBy);
  });
}

/** Returns the ids, of these atoms of the reach, that another atom replaces now. Runs in any transaction; rare. */
export async function replacedAmong(
  db: QueryExecutorProvider,
  reach: Reach,
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  if (ids.length === 0) return new Set();
  const { rows } = await newestReplacing(reach, ids).execute(db);
  return new Set(rows.map(({ id }) => id));
}

/**
 * Returns a statement for the newest atom that replaces each of these, among unexpired atoms whose statement is true.
 * The team is checked behind the index of links: a plan made for an empty table would go by the team's index, and read
 * all of it.
 */
function newestReplacing(
  reach: Reach,
  ids: readonly string[],
  filter: Pick<AtomFilter, "asOf"> = {},
): RawBuilder<{ id: string; by: string }> {
  return sql<{ id: string; by: string }>`
    select distinct on (old.id) old.id::text, a.id::text as by
    from (
      select a.id, a.team_id, a.library_id, a.links, a.created_at, a.expires_at from atoms a
      where a.links @> ${sql.lit(JSON.stringify([{ rel: REPLACES }]))} and ${REPLACED} ?| ${ids}::text[]
        and ${UNEXPIRED} and ${validThen(filter)}
      limit ${MAX_REPLACING}
    ) a
    join libraries l on l.id = a.library_id
    cross join lateral jsonb_array_elements_text(${REPLACED}) replaced (id)
    cross join lateral (select o.id, o.library_id from atoms o where o.id = replaced.id::uuid offset 0) old
    where ${reachable(reach)} and replaced.id = any(${ids}::text[]) and old.library_id = a.library_id and old.id <> a.id
    order by old.id, a.created_at desc, a.id desc`;
}

/** Ids of the atoms that an atom `a` replaces: the expression of the index `atoms_replacing`. */
const REPLACED = sql`jsonb_path_query_array(a.links, ${sql.lit(`$[*] ? (@.rel == "${REPLACES}").id`)})`;

/** Condition of an atom `a` that replaces another, as the index `atoms_replacing_of_library` has it. */
export const IS_REPLACING = sql`jsonb_path_exists(a.links, ${sql.lit(`$[*] ? (@.rel == "${REPLACES}")`)})`;
