import { decodeWholly } from "./percent-encoding.ts";

/** Pattern of anything that may be a key, or the rest of a key: from its scheme on, all characters that keys have. */
const MAYBE_KEY = /inf_[!#-+\--~]*/g;

/** Pattern of a prefix alone. */
const PREFIX = /^inf_[0-9A-Za-z]{8}$/;

/** Pattern of the beginning of a whole key: longer than a prefix, and also matching imported keys. */
const KEY = /inf_[!#-+\--~]{9}/;

/**
 * Pattern of a whole key within a text, and of nothing that lists and logs show of one. An imported key is not known by a
 * character at which cookies and queries are split: the name `inf_region` with its value would be one, too.
 */
const WHOLE_KEY = /(?<![0-9A-Za-z_-])inf_[!$%'-+\--:<>@-~]{30}[!$%'-+\--:<->@-~]{2}/;

const SCHEME = /inf_/;
/** Pattern of what every text with a key has, encoded or not: headers are looked at once, and nearly none has it. */
const SCHEME_OR_ESCAPE = /inf_|%/;

/**
 * True if a text, or what it is decoded to, contains what looks like a key: in a stored text that is a secret which a
 * person pasted.
 */
export function containsKey(text: string): boolean {
  return KEY.test(text) || (text.includes("%") && isKeyIn(KEY, text));
}

/** True if a text, once it is decoded, has a whole key in it: more than a key's prefix, or a name that begins as one. */
export function containsWholeKey(text: string): boolean {
  return SCHEME_OR_ESCAPE.test(text) && isKeyIn(WHOLE_KEY, text);
}

/** True if a text, once it is decoded, has the text in it with which every key begins. */
export function mayContainKey(text: string): boolean {
  return SCHEME_OR_ESCAPE.test(text) && isKeyIn(SCHEME, text);
}

/** True if a text, once it is decoded, has a key in it, or is encoded too often to know. */
function isKeyIn(pattern: RegExp, text: string): boolean {
  if (!text.includes("%")) return pattern.test(text);
  const decoded = decodeWholly(text);
  return decoded === undefined || pattern.test(decoded);
}

/** Returns the beginning of the key in a text, longer than its prefix; undefined if there is none. */
export function beginningOfKey(text: string): string | undefined {
  return KEY.exec(text)?.[0] ?? KEY.exec(decodeWholly(text) ?? "")?.[0];
}

/** Returns a text without anything in it that may be a key. A prefix stays, by which lists and refusals name a key. */
export function redactKeys(text: string): string {
  return text.replace(MAYBE_KEY, (key) => (PREFIX.test(key) ? key : "inf_..."));
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
