import { behindOthers } from "./behind-others.ts";
import { answersAsWell, type RankedMatch } from "./newer-first.ts";

/** Match of an atom with a search, and whether a model took the atom out of a conversation. */
export type ExtractableMatch = RankedMatch & { readonly isExtracted: boolean };

/** Share of another atom's closeness from which on an atom answers no less than it. */
const MIN_SHARE = 0.9;

/**
 * Moves each atom that a model took out of a conversation behind the last written atom that is about as close to the
 * search. All others keep their order.
 *
 * @param placed in the order of an answer
 */
export function writtenFirst<T extends ExtractableMatch>(placed: readonly T[]): T[] {
  return behindOthers(
    placed,
    ({ isExtracted }) => isExtracted,
    (written, extracted) => answersAsWell(written, extracted, MIN_SHARE),
  );
}
