/** What a terminal may obey, or not show. */
const UNSEEN = /[\p{C}\p{Zl}\p{Zp}]/gu;

/** A text of somebody else's as a line for a terminal. */
export function plainText(text: string): string {
  return text.replace(UNSEEN, "?");
}
