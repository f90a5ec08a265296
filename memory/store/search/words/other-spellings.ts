import { foldText, type Word } from "./folded-text.ts";

/** Short names that engineers use, which are no beginning of the full name. */
const SHORT_NAMES: readonly (readonly string[])[] = [
  ["k8s", "kubernetes"],
  ["i18n", "internationalization", "internationalisation"],
  ["l10n", "localization", "localisation"],
  ["a11y", "accessibility"],
  ["o11y", "observability"],
  ["pg", "postgres", "postgresql"],
  ["db", "database"],
  ["js", "javascript"],
  ["ts", "typescript"],
  ["ns", "namespace"],
  ["svc", "service"],
  ["cfg", "config", "configuration"],
  ["msg", "message"],
  ["pwd", "password"],
  ["mgmt", "management"],
];
const NAMES = new Map(SHORT_NAMES.flatMap((names) => names.map((name) => [name, names] as const)));
const NUMBER = /^[0-9]+$/;
const NUMBER_WITH_V = /^v[0-9]+$/;
/** Identifiers and words with a hyphen, looked for by their marks: a text has fewer marks than words. */
const JOINED = /(?=[-_.])(?<=([\p{L}\p{N}]+))(?:[-_.][\p{L}\p{N}]+){1,4}/gu;

/** Returns other words that mean a folded word: `kubernetes` of `k8s`, `v26` of `26`, and `26` of `v26`. */
export function otherSpellings(word: string): readonly string[] {
  if (NUMBER.test(word)) return [`v${word}`];
  if (NUMBER_WITH_V.test(word)) return [word.slice(1)];
  return NAMES.get(word)?.filter((name) => name !== word) ?? [];
}

/**
 * Returns a text's identifiers and words with a hyphen, folded and in one: `readtimeoutms` of `read_timeout_ms`, `wifi`
 * of `Wi-Fi`.
 */
export function joinedWords(text: string): string[] {
  return Array.from(text.matchAll(JOINED), ([further, first]) => foldText(`${first}${further}`.replace(/[-_.]/g, "")));
}

/** Splits a folded word between its letters and its digits, `utf 8` of `utf8`: its form if it is written `utf-8`. */
export function partedAtDigits(word: string): readonly Word[] {
  const parts = word.match(/[0-9]+|[^0-9]+/g) ?? [];
  return parts.length < 2 ? [] : parts.map((text) => ({ kind: "word", text }));
}
