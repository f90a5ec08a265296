import { type RawBuilder, sql } from "kysely";
import type { AtomMetadata } from "./atom.ts";
import { printTextQuery, type TextQuery } from "./text-query.ts";

/**
 * Returns the condition of an atom `a` that has these facts, as the index `atoms_facts` answers it. The index holds
 * each atom's team and library beside its facts: no other team's rows are read.
 *
 * @param owned owners of the atoms that are meant
 * @param facts of {@link metadataFacts} or {@link linkFact}
 */
export function hasFacts(owned: TextQuery, facts: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`(a.metadata <> '{}' or a.links <> '[]')
    and atom_facts(a.team_id, a.library_id, a.metadata, a.links) @@ (${printTextQuery(owned)}::tsquery && ${facts})`;
}

/** Returns the facts of an atom with all of these names and values; {@link hasMetadata} is the exact condition. */
export function metadataFacts(metadata: AtomMetadata): RawBuilder<unknown> {
  return sql`(select string_agg(quote_literal(term), ' & ')::tsquery
    from unnest(metadata_terms(${JSON.stringify(metadata)}::jsonb)) term)`;
}

/** Returns the fact of an atom with a link to the atom of this id. */
export function linkFact(id: string): RawBuilder<unknown> {
  return sql`${printTextQuery({ kind: "word", lexeme: `to ${id}` })}::tsquery`;
}

/**
 * Returns the condition of an atom `a` whose metadata has these names with these values, as text; without them, of any
 * atom.
 */
export function hasMetadata(metadata: AtomMetadata | undefined): RawBuilder<unknown> {
  const asked = sql`${metadata === undefined ? null : JSON.stringify(metadata)}::jsonb`;
  return sql`(${asked} is null or not exists (
    select from jsonb_each_text(${asked}) asked (name, value) where a.metadata ->> asked.name is distinct from asked.value))`;
}
