import { counted } from "../../../domain/counted.ts";
import { libraryName } from "../../../server/libraries/libraries.ts";
import { hiddenByExclusions } from "../../shown/hidden-atoms.ts";
import { countAtoms } from "../../store/lists/library-summary.ts";
import type { AtomFilter } from "../../store/rows/atom-filter.ts";
import { beginning } from "../definition/budget.ts";
import type { ToolContext } from "../definition/tool.ts";

type EmptySearch = {
  /** Library that was searched; null for all libraries. */
  readonly library: { readonly id: string; readonly namespace: string; readonly name: string } | null;
  readonly query: string;
  /** Query as it was searched for, with its exclusions; left out if nothing is excluded. */
  readonly search?: string;
  readonly filter: AtomFilter;
};

/**
 * Returns the note for a model whose search found nothing. It says that nothing is remembered only if there is no atom
 * at all: the model would take that for a fact.
 */
export async function nothingFound(
  { db, key, reach }: ToolContext,
  { library, query, search, filter }: EmptySearch,
): Promise<string> {
  const name = library === null ? "all libraries" : libraryName(key, library);
  const libraryId = library?.id ?? null;
  const asked = { ...filter, libraryId };
  const hidden =
    search === undefined ? undefined : await hiddenByExclusions(db, reach, { ...asked, query: search }, LEAVE_IT_OUT);
  if (hidden !== undefined) return hidden;
  const { atoms, isMore } = await countAtoms(db, reach, libraryId);
  if (atoms === 0) return `Nothing is remembered in ${name} yet.`;
  const count = `${isMore ? "more than " : ""}${counted(atoms, "atom")}`;
  const isFiltered = Object.keys(filter).length > 0;
  return [
    `None of the ${count} in ${name} ${isFiltered ? "passes the filters and " : ""}matches ${quotedQuery(query)}, not even with similar words. That does not mean that it is not so.`,
    isFiltered ? "Try without the filters, with" : "Try",
    `other words for it, another language that it may have been saved in${library === null ? "" : ', or library "*" for all of them'}; memory_list reads through what there is.`,
  ].join(" ");
}

const LEAVE_IT_OUT = 'Call again without "exclude", or with less in it.';

/** Returns the note on atoms that have only some of the words. */
export function partialMatchesNotice(query: string): string {
  return `No atom has all the words of ${quotedQuery(query)}, nor words like them. These are the nearest, which may be about something else.`;
}

/** Quotes the beginning of a query, as much as its asker knows it by. */
function quotedQuery(query: string): string {
  return JSON.stringify(query.length <= MAX_QUOTED ? query : `${beginning(query, MAX_QUOTED)}…`);
}
const MAX_QUOTED = 80;
