/** Characters that a terminal may obey, or does not show. */
const UNSEEN = /[\p{C}\p{Zl}\p{Zp}]/gu;

/** Returns untrusted text as a line that is safe for a terminal. */
export function plainText(text: string): string {
  return text.replace(UNSEEN, "?");
}
