/** True if a database keeps a text as it is: it has no NUL character, and no half of a surrogate pair. */
export function isStorableText(text: string): boolean {
  return !text.includes("\0") && text.isWellFormed();
}
