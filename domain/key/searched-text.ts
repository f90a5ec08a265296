import { beginningOfKey } from "../redact.ts";
import { keyPrefix } from "./key-format.ts";

/** A text to look for, as it may be shown: of one with a key in it, however it was pasted, the prefix of that key alone. */
export function searchedText(text: string): string {
  const key = beginningOfKey(text);
  return key === undefined ? text : keyPrefix(key);
}
