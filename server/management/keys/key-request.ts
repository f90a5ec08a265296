import { NO_KEY } from "./changes.ts";

/** Of a route that is about one key. */
export type ById = { id: string };

/** What every id of a key looks like: nothing else is asked of the database. */
const KEY_ID = /^key_[a-z2-7]{1,32}$/;

/** @throws Problem `not_found` for what is no key's id */
export function keyIdOf({ params: { id } }: { readonly params: ById }): string {
  if (!KEY_ID.test(id)) throw NO_KEY;
  return id;
}
