import { behindOthers } from "./behind-others.ts";
import { answersAsWell, type RankedPlace } from "./newer-first.ts";

/** An atom in its place of an answer, and whether a model took it out of a conversation. */
export type ExtractablePlace = RankedPlace & { readonly isExtracted: boolean };

/** What has at least this share of the closeness of another one answers no less than it. */
const MIN_SHARE = 0.9;

/**
 * Puts what was written before what a model took out of a conversation: each of these comes behind the last written
 * atom that has about as much of what is asked for. All others keep their order.
 *
 * @param placed in the order of an answer
 */
export function writtenFirst<T extends ExtractablePlace>(placed: readonly T[]): T[] {
  return behindOthers(
    placed,
    ({ isExtracted }) => isExtracted,
    (written, extracted) => answersAsWell(written, extracted, MIN_SHARE),
  );
}
