/** Anything that may be a key, or the rest of one: what a key may be made of, from its scheme on. */
const MAYBE_KEY = /inf_[!#-+\--~]*/g;

/** What a whole key begins with: longer than a prefix, and imported ones too. */
const KEY = /inf_[!#-+\--~]{9}/;

/** Whether a text holds what looks like a key: in a text that is kept, it is a secret that a person pasted. */
export function containsKey(text: string): boolean {
  return KEY.test(text);
}

/** More than the prefix of the key that a text holds; undefined where it holds none. */
export function beginningOfKey(text: string): string | undefined {
  return KEY.exec(text)?.[0];
}

/** A text without anything in it that may be a key. */
export function redactKeys(text: string): string {
  return text.replace(MAYBE_KEY, "inf_...");
}

/** A data key of a Secret as messages name it: its pattern takes a key that was pasted in its place. */
export function dataKeyTitle(dataKey: string): string {
  return `data key ${redactKeys(dataKey)}`;
}

/**
 * What may be written down of a text that a stranger chose, as a User-Agent: no key (threats b78), and nothing that a
 * terminal obeys.
 *
 * @param longest in characters
 */
export function sanitizeUntrusted(text: string, longest: number): string {
  return redactKeys(text.replace(/[^ -~]/g, "?")).slice(0, longest);
}
