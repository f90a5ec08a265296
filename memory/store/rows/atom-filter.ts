import { type RawBuilder, sql } from "kysely";
import type { AtomMetadata } from "./atom.ts";
import { hasMetadata } from "./atom-facts.ts";
import type { TextQuery } from "./text-query.ts";

/** Filter of a list or a search, beside its words. A field that is left out lets all atoms through. */
export type AtomFilter = {
  /** Tags that the atom has, all of them. */
  readonly tags?: readonly string[] | undefined;
  /** Tags of which the atom has one at least. */
  readonly anyTags?: readonly string[] | undefined;
  /** Time of the last change, in milliseconds since the epoch: from `since` on, and before `until`. */
  readonly since?: number | undefined;
  readonly until?: number | undefined;
  /** Beginning of the atom's source. */
  readonly source?: string | undefined;
  /** Lowest importance of the atom. */
  readonly importance?: number | undefined;
  /** Moment at which the atom is valid, in milliseconds since the epoch. */
  readonly asOf?: number | undefined;
  /** Names and values that the atom's metadata has, all of them, compared as text: 7 and "7" are the same. */
  readonly metadata?: AtomMetadata | undefined;
};

/** True if a filter lets all atoms through. */
export function isOpen({ tags, anyTags, since, until, source, importance, asOf, metadata }: AtomFilter): boolean {
  const wanted = [listOrNull(tags), listOrNull(anyTags), since, until, source, importance, asOf, metadata];
  return wanted.every((value) => (value ?? null) === null);
}

/**
 * Returns the condition of an atom `a` that a filter lets through. Its SQL is the same whatever the filter, so that few
 * statements are to be planned.
 */
export function passes({
  tags,
  anyTags,
  source,
  importance,
  asOf,
  metadata,
  ...times
}: AtomFilter): RawBuilder<unknown> {
  return sql`(${listOrNull(tags)}::text[] is null or a.tags @> ${listOrNull(tags)}::text[])
    and (${listOrNull(anyTags)}::text[] is null or a.tags && ${listOrNull(anyTags)}::text[])
    and ${changedWithin(times)} and (${source ?? null}::text is null or starts_with(a.source, ${source ?? null}))
    and (${importance ?? null}::float8 is null or a.importance >= ${importance ?? null}::float8)
    and (${timeOf(asOf)}::timestamptz is null or ${validAt(sql`${timeOf(asOf)}::timestamptz`)})
    and ${hasMetadata(metadata)}`;
}

/** Returns the condition of an atom `a` whose statement is true at a moment, a `timestamptz` of PostgreSQL. */
function validAt(moment: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`(a.valid_from is null or a.valid_from <= ${moment}) and (a.valid_to is null or a.valid_to > ${moment})`;
}

/** Returns the same condition for the filter's moment, or for now if it has none. */
export function validThen({ asOf }: Pick<AtomFilter, "asOf">): RawBuilder<unknown> {
  return validAt(sql`coalesce(${timeOf(asOf)}::timestamptz, now())`);
}

function listOrNull(list: readonly string[] | undefined): string[] | null {
  return list === undefined || list.length === 0 ? null : [...list];
}

/** Returns the condition on a filter's times that an index in the order of changes answers. */
export function changedWithin({ since, until }: Pick<AtomFilter, "since" | "until">): RawBuilder<unknown> {
  return sql`a.updated_at >= coalesce(${timeOf(since)}::timestamptz, '-infinity')
    and a.updated_at < coalesce(${timeOf(until)}::timestamptz, 'infinity')`;
}

/**
 * Returns the condition on a filter's times that an index in the order of creation answers: nothing is changed before
 * it is created.
 */
export function madeWithin({ until }: Pick<AtomFilter, "until">): RawBuilder<unknown> {
  return sql`a.created_at < coalesce(${timeOf(until)}::timestamptz, 'infinity')`;
}

function timeOf(ms: number | undefined): Date | null {
  return ms === undefined ? null : new Date(ms);
}

/** Returns the conditions of a filter that the indexes of words and of parts of words answer: its tags. */
export function indexedTags({ tags = [], anyTags = [] }: AtomFilter): TextQuery[] {
  const of = anyTags.map(lexemeOf);
  return [...tags.map(lexemeOf), ...(of.length === 0 ? [] : [{ kind: "or", of } as const])];
}

function lexemeOf(tag: string): TextQuery {
  return { kind: "word", lexeme: `tag ${tag}` };
}
