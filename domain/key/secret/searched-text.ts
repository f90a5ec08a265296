import { beginningOfKey } from "../../redact.ts";
import { KEY_LENGTH, keyPrefix, keyShape } from "./key-format.ts";

/** Returns a search text as it may be shown: if a key is in it, however it was pasted, only the prefix of that key. */
export function searchedText(text: string): string {
  const key = beginningOfKey(text) ?? brokenKey(text);
  return key === undefined ? text : keyPrefix(key);
}

/** Finds a minted key with spaces or line ends in it, by its checksum, which no words have. */
function brokenKey(text: string): string | undefined {
  const joined = text.replace(/[\s\p{Cf}]/gu, "");
  for (let at = joined.indexOf("inf_"); at !== -1; at = joined.indexOf("inf_", at + 1)) {
    const key = joined.slice(at, at + KEY_LENGTH);
    if (keyShape(key) === "minted") return key;
  }
  return undefined;
}
