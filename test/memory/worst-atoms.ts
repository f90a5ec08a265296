import { sql } from "kysely";
import type { Store } from "../../store/database/store.ts";

/** The word that a search finds all of them by. */
export const FOUND_BY = "harbour";

/**
 * Fills the diary with atoms that are long as they are sent: of control characters, which JSON writes with six bytes each,
 * in every field, with as many tags, metadata and links as an atom may have. The newest is number 1.
 *
 * @param characters of each content, by the atom's number
 */
export async function fillWithWorstAtoms({ db }: Store, characters: readonly number[]): Promise<void> {
  const sizes = JSON.stringify(characters);
  await sql`insert into atoms (library_id, team_id, content, tags, source, importance, metadata, created_at, updated_at)
    select 'lib-diary', 'team-a', ${FOUND_BY} || ' ' || n || ' ' || repeat(E'\\x01', size::integer),
      array(select repeat(E'\\x01', 60) || tag from generate_series(1, 32) tag), repeat(E'\\x02', 500), n % 10,
      (select jsonb_object_agg('field ' || field, repeat(E'\\x03', 35)) from generate_series(1, 16) field),
      to_timestamp(1000000 - n), to_timestamp(1000000 - n)
    from jsonb_array_elements_text(${sizes}::jsonb) with ordinality given (size, n)`.execute(db);
  await sql`update atoms set links = (
      select jsonb_agg(jsonb_build_object('rel', repeat(E'\\x04', 62) || link, 'id', (select min(id::text) from atoms)))
      from generate_series(1, 32) link
    ) where library_id = 'lib-diary'`.execute(db);
  // The update's revision is no correction.
  await sql`delete from atom_revisions`.execute(db);
}

/** The number of an atom of {@link fillWithWorstAtoms}. */
export function numberOf({ content }: { readonly content: string }): number {
  return Number(content.split(" ")[1]);
}
