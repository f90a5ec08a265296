import { type RawBuilder, sql } from "kysely";
import type { AtomMetadata } from "./atom.ts";
import { printTextQuery, type TextQuery } from "./text-query.ts";

/**
 * The condition of an atom `a` that has these facts, as the index `atoms_facts` answers it. It holds each atom's team and
 * library beside them: no other team's rows are read.
 *
 * @param owned whose atoms are meant
 * @param facts of {@link metadataFacts} or {@link linkFact}
 */
export function hasFacts(owned: TextQuery, facts: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`(a.metadata <> '{}' or a.links <> '[]')
    and atom_facts(a.team_id, a.library_id, a.metadata, a.links) @@ (${printTextQuery(owned)}::tsquery && ${facts})`;
}

/** Of an atom with all of these names and values: {@link hasMetadata} says it exactly. */
export function metadataFacts(metadata: AtomMetadata): RawBuilder<unknown> {
  return sql`(select string_agg(quote_literal(term), ' & ')::tsquery
    from unnest(metadata_terms(${JSON.stringify(metadata)}::jsonb)) term)`;
}

/** Of an atom with a link to another one. */
export function linkFact(id: string): RawBuilder<unknown> {
  return sql`${printTextQuery({ kind: "word", lexeme: `to ${id}` })}::tsquery`;
}

/** The condition of an atom `a` whose metadata has these names with these values, as text; any where it is left out. */
export function hasMetadata(metadata: AtomMetadata | undefined): RawBuilder<unknown> {
  const asked = sql`${metadata === undefined ? null : JSON.stringify(metadata)}::jsonb`;
  return sql`(${asked} is null or not exists (
    select from jsonb_each_text(${asked}) asked (name, value) where a.metadata ->> asked.name is distinct from asked.value))`;
}
