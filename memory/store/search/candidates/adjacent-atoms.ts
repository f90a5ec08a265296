import { sql } from "kysely";
import type { Tx } from "../../../../store/database/change.ts";
import { preparedStatement } from "../../../../store/database/prepared-statement.ts";
import { candidateCondition, type SearchScope } from "./search-scope.ts";

/** Ids of the atoms that were made right before and right after an atom, from the same source, by the id of that atom. */
export type Adjacent = ReadonlyMap<string, readonly string[]>;

/** Longest pause, in minutes, within what was said in one go, as between the turns of a conversation. */
const PAUSE_MINUTES = 30;

/**
 * Finds the atoms that were made right before and right after each of these, from the same source, without a longer
 * pause than {@link PAUSE_MINUTES}. An atom without a source has none. Two rows are read for each.
 */
export async function findAdjacent(tx: Tx, scope: SearchScope, ids: readonly string[]): Promise<Adjacent> {
  const { rows } = await sql<{ id: string; adjacent: string }>`${preparedStatement}
    select known.id::text, a.id::text as adjacent from unnest(${[...ids]}::uuid[]) known (id)
    cross join lateral (
      select a.library_id, a.source, a.created_at from atoms a where a.id = known.id and a.source is not null offset 0) own
    cross join lateral (
      (select a.* from atoms a where a.library_id = own.library_id
        and (a.created_at, a.id) < (own.created_at, known.id)
        and a.created_at >= own.created_at - ${PAUSE_MINUTES}::integer * interval '1 minute'
        order by a.created_at desc, a.id desc limit 1)
      union all
      (select a.* from atoms a where a.library_id = own.library_id
        and (a.created_at, a.id) > (own.created_at, known.id)
        and a.created_at <= own.created_at + ${PAUSE_MINUTES}::integer * interval '1 minute'
        order by a.created_at, a.id limit 1)
    ) a where a.source = own.source and ${candidateCondition(scope)}`.execute(tx);
  const each = Map.groupBy(rows, ({ id }) => id);
  return new Map([...each].map(([id, pairs]) => [id, pairs.map(({ adjacent }) => adjacent)]));
}
