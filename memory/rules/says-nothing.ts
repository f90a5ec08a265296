/** Character that is seen: U+2800, Braille without a dot, is not. */
const SEEN = /[^\p{White_Space}\p{Default_Ignorable_Code_Point}\p{Cc}\u2800]/u;

/** True if a text has no character that is seen: only spaces, or characters without a width. */
export function saysNothing(text: string): boolean {
  return !SEEN.test(text);
}
