import { isKeyId } from "../../../../domain/key/stored/key-id.ts";
import { NO_KEY } from "./requirements.ts";

/** Of a route that is about one key. */
export type KeyIdParams = { id: string };

/** @throws Problem `not_found` for what is no key's id */
export function keyIdOf({ params: { id } }: { readonly params: KeyIdParams }): string {
  if (!isKeyId(id)) throw NO_KEY;
  return id;
}
