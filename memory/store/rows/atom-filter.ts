import { type RawBuilder, sql } from "kysely";
import type { AtomMetadata } from "./atom.ts";
import { hasMetadata } from "./atom-facts.ts";
import type { TextQuery } from "./text-query.ts";

/** Which atoms a list or a search is for, beside their words. What is left out lets all of them through. */
export type AtomFilter = {
  /** The atom has all of them. */
  readonly tags?: readonly string[] | undefined;
  /** The atom has one of them. */
  readonly anyTags?: readonly string[] | undefined;
  /** When it was last changed, in milliseconds since the epoch: from `since` on, and before `until`. */
  readonly since?: number | undefined;
  readonly until?: number | undefined;
  /** What its source begins with. */
  readonly source?: string | undefined;
  /** It is at least so important. */
  readonly importance?: number | undefined;
  /** It is valid at this moment, in milliseconds since the epoch. */
  readonly asOf?: number | undefined;
  /** Its metadata has all of these names, each with this value as text: 7 and "7" are the same. */
  readonly metadata?: AtomMetadata | undefined;
};

/** Whether a filter lets all atoms through. */
export function isOpen({ tags, anyTags, since, until, source, importance, asOf, metadata }: AtomFilter): boolean {
  const wanted = [listOrNull(tags), listOrNull(anyTags), since, until, source, importance, asOf, metadata];
  return wanted.every((value) => (value ?? null) === null);
}

/**
 * The condition of an atom `a` that a filter lets through. Its text is the same whatever the filter, so that few
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

/** The condition of an atom `a` whose statement is true at a moment, which PostgreSQL knows as a `timestamptz`. */
function validAt(moment: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`(a.valid_from is null or a.valid_from <= ${moment}) and (a.valid_to is null or a.valid_to > ${moment})`;
}

/** The same of the moment that a filter is about, and where it is about none, of the present one. */
export function validThen({ asOf }: Pick<AtomFilter, "asOf">): RawBuilder<unknown> {
  return validAt(sql`coalesce(${timeOf(asOf)}::timestamptz, now())`);
}

function listOrNull(list: readonly string[] | undefined): string[] | null {
  return list === undefined || list.length === 0 ? null : [...list];
}

/** As far as it is about times, which an index in the order of changes answers. */
export function changedWithin({ since, until }: Pick<AtomFilter, "since" | "until">): RawBuilder<unknown> {
  return sql`a.updated_at >= coalesce(${timeOf(since)}::timestamptz, '-infinity')
    and a.updated_at < coalesce(${timeOf(until)}::timestamptz, 'infinity')`;
}

/** Nothing is changed before it is made: what an index in the order of making has of a filter's times. */
export function madeWithin({ until }: Pick<AtomFilter, "until">): RawBuilder<unknown> {
  return sql`a.created_at < coalesce(${timeOf(until)}::timestamptz, 'infinity')`;
}

function timeOf(ms: number | undefined): Date | null {
  return ms === undefined ? null : new Date(ms);
}

/** What the indexes of words and of parts have of a filter: its tags. */
export function indexedTags({ tags = [], anyTags = [] }: AtomFilter): TextQuery[] {
  const of = anyTags.map(lexemeOf);
  return [...tags.map(lexemeOf), ...(of.length === 0 ? [] : [{ kind: "or", of } as const])];
}

function lexemeOf(tag: string): TextQuery {
  return { kind: "word", lexeme: `tag ${tag}` };
}
