/** Looks for pieces of secrets where none may be (I4). */

/** As many characters of a secret in a row are no chance. */
const PIECE = 16;

export type PlaintextSearch = {
  /** The prefix of a key that the text has more of than its prefix, or undefined. */
  find(text: string): string | undefined;
};

/** @param values full keys, looked for as they are and in base64 */
export function searchFor(values: Iterable<string>): PlaintextSearch {
  const pieces = new Map<string, string>();
  for (const value of values) {
    const prefix = value.slice(0, 12);
    const forms = [value.slice(12), Buffer.from(value).toString("base64").slice(16)];
    for (const form of forms) {
      for (let at = 0; at + PIECE <= form.length; at++) pieces.set(form.slice(at, at + PIECE), prefix);
    }
  }
  return {
    find(text) {
      for (const [run] of text.matchAll(/[0-9A-Za-z+/]{16,}/g)) {
        for (let at = 0; at + PIECE <= run.length; at++) {
          const prefix = pieces.get(run.slice(at, at + PIECE));
          if (prefix !== undefined) return prefix;
        }
      }
      return undefined;
    },
  };
}
