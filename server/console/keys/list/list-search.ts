import type { Db } from "../../../../store/database/change.ts";
import { findBindings } from "../../../../store/keys/search/identified-keys.ts";
import type { KeySearch } from "../../../../store/keys/search/key-search.ts";
import type { KeyListFilters } from "./list-query.ts";

/**
 * Returns the search for the list's filters, without its position.
 *
 * @param at milliseconds since the epoch: the time at which states and traits hold
 */
export async function keySearchOf(
  db: Db,
  { text, state, scope, trait, model, bound, order }: KeyListFilters,
  teamIds: readonly string[] | undefined,
  at: number,
): Promise<Omit<KeySearch, "after" | "limit">> {
  return {
    ...{ name: text, teamIds, order, scope },
    ...{ state: state && { is: state, at }, trait: trait && { is: trait, at } },
    model: model === "" ? undefined : model,
    boundTo: bound === "" ? undefined : await findBindings(db, bound, teamIds),
  };
}
