/** A character that is seen: U+2800 is Braille without a dot. */
const SEEN = /[^\p{White_Space}\p{Default_Ignorable_Code_Point}\p{Cc}\u2800]/u;

/** Whether a text has no character that is seen: spaces alone, or what is as wide as nothing. */
export function saysNothing(text: string): boolean {
  return !SEEN.test(text);
}
