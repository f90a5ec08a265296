import { type RawBuilder, sql } from "kysely";
import type { TextQuery } from "./search/index-condition.ts";

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
};

/** The condition of an atom `a` that a filter lets through. */
export function passes({ tags, anyTags, since, until, source, importance }: AtomFilter): RawBuilder<unknown> {
  const conditions = [
    tags?.length && sql`a.tags @> ${[...tags]}::text[]`,
    anyTags?.length && sql`a.tags && ${[...anyTags]}::text[]`,
    since !== undefined && sql`a.updated_at >= ${new Date(since)}::timestamptz`,
    until !== undefined && sql`a.updated_at < ${new Date(until)}::timestamptz`,
    source !== undefined && sql`starts_with(a.source, ${source})`,
    importance !== undefined && sql`a.importance >= ${importance}::float8`,
  ].filter((condition) => typeof condition === "object");
  return sql.join([sql`true`, ...conditions], sql` and `);
}

/** What the indexes of words and of parts have of a filter: its tags. */
export function indexedTags({ tags = [], anyTags = [] }: AtomFilter): TextQuery[] {
  const of = anyTags.map(lexemeOf);
  return [...tags.map(lexemeOf), ...(of.length === 0 ? [] : [{ kind: "or", of } as const])];
}

function lexemeOf(tag: string): TextQuery {
  return { kind: "word", lexeme: `tag ${tag}` };
}
