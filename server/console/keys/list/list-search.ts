import type { Db } from "../../../../store/database/change.ts";
import { findBindings } from "../../../../store/keys/search/identified-keys.ts";
import type { KeySearch } from "../../../../store/keys/search/key-search.ts";
import type { KeyListFilters } from "./list-query.ts";

/**
 * What the filters of the list search for, wherever a page begins.
 *
 * @param at milliseconds since the epoch: when a key has its state
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
