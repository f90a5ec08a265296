import type { Reach } from "../../domain/access/reach.ts";
import type { Db } from "../../store/database/change.ts";
import { rankAtoms } from "../store/search/atom-search.ts";
import type { SearchFilter } from "../store/search/candidates/search-scope.ts";
import { partSearch } from "../store/search/words/search-words.ts";

/** Number of hidden atoms that are counted. */
const MAX_COUNTED = 100;

/**
 * Returns the note on a search that found nothing, with the number of atoms that its exclusions hide. Undefined if they
 * hide none.
 *
 * @param remedy what the caller can do, a sentence
 */
export async function hiddenByExclusions(
  db: Db,
  reach: Reach,
  { query, ...filter }: SearchFilter & { readonly query: string },
  remedy: string,
): Promise<string | undefined> {
  const { rest, excluded } = partSearch(query);
  if (excluded.length === 0) return undefined;
  const names = excluded.map((text) => JSON.stringify(text)).join(", ");
  const asked = rest === "" ? excluded.map((text) => `"${text}"`).join(" or ") : rest;
  const found = await rankAtoms(db, reach, { ...filter, query: asked, limit: MAX_COUNTED + 1 });
  // The nearest atoms, which follow if few are found, do not have the words that were asked for.
  const hidden = found.filter(({ match }) => match !== "nearest").length;
  if (hidden === 0) return undefined;
  const count = hidden > MAX_COUNTED ? `more than ${MAX_COUNTED} atoms` : hidden === 1 ? "1 atom" : `${hidden} atoms`;
  return `Excluding ${names} leaves nothing: it hides ${count} that would be found without. ${remedy}`;
}
