/** What a terminal may obey, or not show. */
const UNSEEN = /[\p{C}\p{Zl}\p{Zp}]/gu;

/** An untrusted text as a line for a terminal. */
export function plainText(text: string): string {
  return text.replace(UNSEEN, "?");
}
