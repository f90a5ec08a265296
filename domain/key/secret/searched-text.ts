import { beginningOfKey } from "../../redact.ts";
import { KEY_LENGTH, keyPrefix, keyShape } from "./key-format.ts";

/** A text to look for, as it may be shown: of one with a key in it, however it was pasted, the prefix of that key alone. */
export function searchedText(text: string): string {
  const key = beginningOfKey(text) ?? brokenKey(text);
  return key === undefined ? text : keyPrefix(key);
}

/** A minted key with spaces in it, as where a line has ended within it. It is known by its checksum, which no words have. */
function brokenKey(text: string): string | undefined {
  const joined = text.replace(/[\s\p{Cf}]/gu, "");
  for (let at = joined.indexOf("inf_"); at !== -1; at = joined.indexOf("inf_", at + 1)) {
    const key = joined.slice(at, at + KEY_LENGTH);
    if (keyShape(key) === "minted") return key;
  }
  return undefined;
}
