import { isKeyId } from "../../../../domain/key/stored/key-id.ts";
import type { Db } from "../../../../store/database/change.ts";
import type { ListedKey } from "../../../../store/keys/search/key-lists.ts";
import { findKeys } from "../../../../store/keys/search/key-search.ts";
import { problem } from "../../../http/problems/problem.ts";
import { NO_KEY } from "../../../management/keys/request/requirements.ts";
import { type Action, allows, type Rights, requireRight, seesTeam } from "../../../management/rights.ts";
import { listUrl, readListQuery } from "../list/list-query.ts";

/** Keys that were selected in the list. */
export type Selection = {
  readonly ids: readonly string[];
  /** URL of the page of the list that they were selected on. */
  readonly list: string;
};

/** Maximum number of selected keys: more than a page of the list has. */
export const MAX_SELECTED = 100;

/**
 * Reads a selection from a URL. Its parameter is neither `key`, which carries an API key, nor `id`, which forms have.
 *
 * @throws Problem `invalid_request` for no key, for too many, and for a text that is no key's id
 */
export function readSelection({ keyId, list }: Readonly<Record<string, unknown>>): Selection {
  const chosen: readonly unknown[] = Array.isArray(keyId) ? keyId : [keyId];
  const ids = new Set(chosen.filter((one) => typeof one === "string"));
  if (ids.size === 0) {
    throw problem("invalid_request", "No key is selected: go back to the list, and select those that are meant.");
  }
  if (chosen.length > MAX_SELECTED) {
    throw problem("invalid_request", `More than ${MAX_SELECTED} keys are selected: select fewer at a time.`);
  }
  if (![...ids].every(isKeyId)) {
    throw problem("invalid_request", "This selection is broken: go back to the list, and select the keys again.");
  }
  const [, search = ""] = typeof list === "string" ? list.split("?", 2) : [];
  return { ids: [...ids], list: listUrl(readListQuery(Object.fromEntries(new URLSearchParams(search)))) };
}

/** Returns the URL of the form that revokes a selection. */
export function revocationUrl({ ids, list }: Selection): string {
  return `/dashboard/keys/revoke?${new URLSearchParams([["list", list], ...ids.map((id) => ["keyId", id])])}`;
}

/**
 * Reads the selected keys that the caller sees, by their ids. Keys of other teams are left out like keys that do not
 * exist.
 *
 * @throws Problem `not_found` if the caller sees none, `forbidden` if the caller may take the action on none
 */
export async function seeSelected(
  db: Db,
  rights: Rights,
  { ids }: Selection,
  action?: Action,
): Promise<ReadonlyMap<string, ListedKey>> {
  const keys = (await findKeys(db, ids)).filter(({ teamId }) => seesTeam(rights, teamId));
  const [first] = keys;
  if (first === undefined) throw NO_KEY;
  if (action !== undefined && !keys.some(({ teamId }) => allows(rights, teamId, action))) {
    requireRight(rights, first.teamId, action);
  }
  return new Map(keys.map((key) => [key.id, key]));
}
