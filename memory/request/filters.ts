import { defined } from "../../domain/defined.ts";
import { InvalidAtomError } from "../../store/database/errors.ts";
import type { AtomMetadata } from "../store/rows/atom.ts";
import type { AtomFilter } from "../store/rows/atom-filter.ts";
import { METADATA } from "./schemas.ts";
import { readTime } from "./times.ts";

/** Filter of a list or a search, as callers send it and its schema lets it through. */
export type FilterInput = {
  since?: string;
  until?: string;
  source?: string;
  importance?: number;
  asOf?: string;
  /** Names and values of metadata, which no schema checks. */
  metadata?: Readonly<Record<string, unknown>>;
};

/**
 * Reads a filter into the store's terms.
 *
 * @throws InvalidAtomError for what no schema checks: times that are not in the calendar, and what no metadata can be
 */
export function readFilter(
  { since, until, source, importance, asOf, metadata }: FilterInput,
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
    metadata: metadata === undefined ? undefined : readMetadata(metadata),
  });
}

/**
 * Reads the metadata to filter by, in the order of the names, whichever they came in: a cursor is bound to it.
 * Undefined for none.
 */
function readMetadata(given: Readonly<Record<string, unknown>>): AtomMetadata | undefined {
  const names = Object.keys(given).sort();
  if (names.length === 0) return undefined;
  const { maxProperties, propertyNames, additionalProperties } = METADATA;
  if (names.length > maxProperties) {
    throw new InvalidAtomError(`At most ${maxProperties} names of metadata are asked for: an atom has no more.`);
  }
  const metadata: Record<string, string | number | boolean> = Object.create(null);
  for (const name of names) {
    const value = given[name];
    if (!isText(name, propertyNames.maxLength) || name === "") throw new InvalidAtomError(WRONG_NAME);
    const isFact =
      typeof value === "number" || typeof value === "boolean" || isText(value, additionalProperties.maxLength);
    if (!isFact) throw new InvalidAtomError(WRONG_VALUE);
    // As it is stored.
    metadata[name.toWellFormed()] = typeof value === "string" ? value.toWellFormed() : value;
  }
  return metadata;
}

const WRONG_NAME = 'A name of metadata has 1 to 64 characters, as in "metadata.ticket=OPS-12", and no NUL character.';
const WRONG_VALUE =
  "Each name of metadata is asked for with one value, a text of at most 4,096 characters without a NUL, a number or a boolean.";

function isText(value: unknown, most: number): value is string {
  return typeof value === "string" && [...value].length <= most && !value.includes("\0");
}

/** Returns the text that a cursor is bound to beside its library: null for a list of all atoms, the newest first. */
export function cursorFilter(filter: AtomFilter, sort: string, query?: string): string | null {
  const isPlain = Object.keys(filter).length === 0 && sort === "newest" && query === undefined;
  return isPlain ? null : JSON.stringify([filter, sort, query]);
}
