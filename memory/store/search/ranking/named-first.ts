import { foldText, identifiersIn } from "../words/folded-text.ts";
import { joinedWords } from "../words/other-spellings.ts";
import { parseSearch } from "../words/search-words.ts";
import { plainVersion, versionsIn } from "../words/versions.ts";
import { behindOthers } from "./behind-others.ts";

/** Names with marks that no index has: `C++`, `C#`, `.NET`. */
const MARKED = /(?<![\p{L}\p{N}])(?:\p{L}[\p{L}\p{N}]*(?:\+\+|#)|\.\p{L}{2,}(?![\p{L}\p{N}]))/gu;

/**
 * Moves atoms that have a name of the query before atoms that have its letters alone: a name with its marks, a version,
 * and, if the query is nothing else, an identifier, however it is parted. All others keep their order.
 *
 * @param placed in the order of an answer
 */
export function namedFirst<T extends { readonly text: string }>(placed: readonly T[], query: string): T[] {
  const terms = parseSearch(query)
    .flat()
    .filter(({ isExcluded }) => !isExcluded);
  const namesOf = terms.length === 1 ? allNamesIn : distinctNamesIn;
  const wanted = new Set(terms.flatMap(({ text }) => namesOf(text)));
  if (wanted.size === 0) return [...placed];
  const named = new Set(placed.filter(({ text }) => allNamesIn(text).some((name) => wanted.has(name))));
  return behindOthers(
    placed,
    (atom) => !named.has(atom),
    () => true,
  );
}

function allNamesIn(text: string): string[] {
  return [...distinctNamesIn(text), ...joinedWords(text), ...identifiersIn(text).map(({ name }) => name)];
}

function distinctNamesIn(text: string): string[] {
  return [...(text.match(MARKED) ?? []).map(foldText), ...versionsIn(text).map(plainVersion)];
}
