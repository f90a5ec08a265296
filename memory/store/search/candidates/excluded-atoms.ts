import { sql } from "kysely";
import type { Db } from "../../../../store/database/change.ts";
import { preparedStatement } from "../../../../store/database/prepared-statement.ts";
import { hasAnyOf } from "../words/exclusions.ts";
import { isAscii } from "../words/folded-text.ts";
import { yieldBetweenTexts } from "../words/yield-between-texts.ts";
import type { RankedRow } from "./ranked-row.ts";
import type { AtomSearchBounds } from "./search-bounds.ts";
import { SEARCHED_TEXT } from "./similar-atoms.ts";

/**
 * Leaves out the atoms that have what is excluded in another spelling than the index of words, which has left out the
 * others: with other accents or in another width, or within what is written without spaces. Texts and exclusions of
 * ASCII alone have none. Atoms beyond the bytes that are read are left out too.
 */
export async function withoutExcluded<Atom extends RankedRow>(
  db: Db,
  found: readonly Atom[],
  excluded: readonly string[],
  bounds: AtomSearchBounds,
): Promise<readonly Atom[]> {
  if (excluded.length === 0 || found.length === 0) return found;
  const isOther = excluded.every(isAscii) ? sql`octet_length(a.text) <> length(a.text)` : sql`true`;
  const { rows } = await sql<{ id: string; text: string | null }>`${preparedStatement}
    select a.id::text, case when a.bytes <= ${bounds.bytes}::bigint then a.text end as text from (
      select a.id, a.text, sum(octet_length(a.text)) over (order by a.at) as bytes from (
        select a.id, known.at, ${SEARCHED_TEXT} as text
        from unnest(${found.map(({ id }) => id)}::uuid[]) with ordinality known (id, at) join atoms a on a.id = known.id
      ) a where ${isOther}
    ) a`.execute(db);
  const isExcluded = hasAnyOf(excluded);
  const yieldBefore = yieldBetweenTexts();
  const hidden = new Set<string>();
  for (const { id, text } of rows) {
    await yieldBefore(text ?? "");
    if (text === null || isExcluded(text)) hidden.add(id);
  }
  return found.filter(({ id }) => !hidden.has(id));
}
