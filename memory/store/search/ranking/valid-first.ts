import { behindOthers } from "./behind-others.ts";
import { answersAsWell, type RankedMatch } from "./newer-first.ts";

/**
 * Moves each atom that is no longer or not yet true behind the last true atom that answers as well. All others keep
 * their order.
 *
 * @param placed in the order of an answer
 */
export function validFirst<T extends RankedMatch & { readonly isValid: boolean }>(placed: readonly T[]): T[] {
  return behindOthers(placed, ({ isValid }) => !isValid, answersAsWell);
}
