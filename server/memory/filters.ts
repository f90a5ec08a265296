import { defined } from "../../domain/defined.ts";
import { InvalidAtomError } from "../../store/database/errors.ts";
import type { AtomFilter } from "../../store/memory/atom-filter.ts";
import { readTime } from "./times.ts";

/** What narrows a list or a search, as callers send it and its schema lets it through. */
export type FilterInput = { since?: string; until?: string; source?: string; importance?: number; asOf?: string };

/**
 * What is asked for, in the store's terms.
 *
 * @throws InvalidAtomError for what no schema says: the times of the calendar
 */
export function readFilter(
  { since, until, source, importance, asOf }: FilterInput,
  { tags = [], anyTags = [] }: Pick<AtomFilter, "tags" | "anyTags">,
): AtomFilter {
  const from = since === undefined ? undefined : readTime("since", since);
  const to = until === undefined ? undefined : readTime("until", until);
  if (from !== undefined && to !== undefined && from >= to) {
    throw new InvalidAtomError('"until" is not after "since": no atom could be meant.');
  }
  return defined({
    tags: tags.length === 0 ? undefined : tags,
    anyTags: anyTags.length === 0 ? undefined : anyTags,
    since: from,
    until: to,
    source,
    importance,
    asOf: asOf === undefined ? undefined : readTime("asOf", asOf),
  });
}

/** What a cursor is bound to beside its library: null for a list of all, the newest first. */
export function cursorFilter(filter: AtomFilter, sort: string, query?: string): string | null {
  const isPlain = Object.keys(filter).length === 0 && sort === "newest" && query === undefined;
  return isPlain ? null : JSON.stringify([filter, sort, query]);
}
