/** Pattern of anything that may be a key, or the rest of a key: from its scheme on, all characters that keys have. */
const MAYBE_KEY = /inf_[!#-+\--~]*/g;

/** Pattern of the beginning of a whole key: longer than a prefix, and also matching imported keys. */
const KEY = /inf_[!#-+\--~]{9}/;

/** True if a text contains what looks like a key: in a stored text that is a secret which a person pasted. */
export function containsKey(text: string): boolean {
  return KEY.test(text);
}

/** Returns the beginning of the key in a text, longer than its prefix; undefined if there is none. */
export function beginningOfKey(text: string): string | undefined {
  return KEY.exec(text)?.[0];
}

/** Returns a text without anything in it that may be a key. */
export function redactKeys(text: string): string {
  return text.replace(MAYBE_KEY, "inf_...");
}

/** Formats a data key of a Secret for messages. It is redacted: the pattern of data keys also matches a pasted key. */
export function dataKeyTitle(dataKey: string): string {
  return `data key ${redactKeys(dataKey)}`;
}

/**
 * Returns what may be recorded of a text from a stranger, such as a User-Agent: without keys (threats b78), and without
 * control characters that a terminal obeys.
 *
 * @param longest in characters
 */
export function sanitizeUntrusted(text: string, longest: number): string {
  return redactKeys(text.replace(/[^ -~]/g, "?")).slice(0, longest);
}
