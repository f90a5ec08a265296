import { isKeyId } from "../../../../domain/key/stored/key-id.ts";
import { NO_KEY } from "./requirements.ts";

/** Parameters of a route about a key. */
export type KeyIdParams = { id: string };

/** Reads the key's id from a path. @throws Problem `not_found` for a text that is no key's id */
export function keyIdOf({ params: { id } }: { readonly params: KeyIdParams }): string {
  if (!isKeyId(id)) throw NO_KEY;
  return id;
}
