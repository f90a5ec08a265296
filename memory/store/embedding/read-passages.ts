import { sql } from "kysely";
import { passagesOf } from "../../../domain/passages.ts";
import type { Db } from "../../../store/database/change.ts";

/** Atoms of an answer, of 65,536 characters at most each, that are read again for a passage behind their beginning. */
const MAX_READ = 20;

/**
 * Reads the passages whose meaning was found, by the ids of their atoms.
 *
 * @param found atoms that the reader may see; atoms found by their words or by their first passage are passed over
 */
export async function readPassages(
  db: Db,
  found: readonly { readonly id: string; readonly passage?: number }[],
): Promise<ReadonlyMap<string, string>> {
  const wanted = new Map(found.flatMap(({ id, passage = 0 }) => (passage > 0 ? [[id, passage] as const] : [])));
  if (wanted.size === 0) return new Map();
  const ids = [...wanted.keys()].slice(0, MAX_READ);
  const { rows } = await sql<{ id: string; content: string }>`
    select id::text, content from atoms where id = any(${ids}::uuid[])`.execute(db);
  return new Map(
    rows.flatMap(({ id, content }) => {
      // An atom that was corrected meanwhile may have fewer passages.
      const passage = passagesOf(content)[wanted.get(id) ?? 0];
      return passage === undefined ? [] : [[id, passage]];
    }),
  );
}
