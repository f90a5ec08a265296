/** Version with a `v` or without: `v1.2.0`, and `1.2`, which is the same version. */
const VERSION = /(?<![\p{L}\p{N}.])v?([0-9]+(?:\.[0-9]+){1,4})/giu;
/** Version that is looked for: not `9.45` of `9.45am`, of which the index has `45am` in one. */
const SOUGHT_VERSION = new RegExp(`${VERSION.source}(?![\\p{L}\\p{N}])`, VERSION.flags);
/** Numbers that may be written with dots as well: `10:30`, `41,5` and `2026-11-26`. */
const IN_OTHER_MARKS = /(?<![\p{L}\p{N}.])([0-9]+([:,/_-])[0-9]+(?:\2[0-9]+){0,3})(?![\p{L}\p{N}])/gu;
const DATE = /^(?:[0-9]{4}\.[0-9]{1,2}\.[0-9]{1,2}|[0-9]{1,2}\.[0-9]{1,2}\.[0-9]{4})$/;
const NOUGHTS = /(?:\.0+)+$/;
/** Likeness of two versions of which one begins with all of the other. */
const WITHIN = 0.8;

/** Returns the versions in a text, without their `v`: `3.4.0` of `v3.4.0`. A number with a dot counts as a version. */
export function versionsIn(text: string): string[] {
  return Array.from(text.matchAll(VERSION), ([, numbers = ""]) => numbers);
}

/** Returns the versions that a query asks for, and its text with a space in place of each. */
export function soughtVersions(query: string): { readonly versions: readonly string[]; readonly rest: string } {
  const versions = Array.from(query.matchAll(SOUGHT_VERSION), ([, numbers = ""]) => numbers);
  return { versions, rest: query.replace(SOUGHT_VERSION, " ") };
}

/** Returns the versions in a text, and the numbers that other marks part, with dots: `10.30` of `10:30`. */
export function numbersIn(text: string): string[] {
  const others = Array.from(text.matchAll(IN_OTHER_MARKS), ([, numbers = "", mark = ""]) =>
    numbers.replaceAll(mark, "."),
  );
  return [...versionsIn(text), ...others];
}

/** Returns the plain form of a version, which all its spellings share: `3.4` of `3.4.0`. */
export function plainVersion(version: string): string {
  return version.replace(NOUGHTS, "");
}

/**
 * Returns the likeness of two versions: 1 for the same, and for a date with its year at the other end; less if one
 * begins with all of the other; 0 for others and for words.
 */
export function likenessOfVersions(wanted: string, present: string): number {
  if (!present.includes(".")) return 0;
  if (plainVersion(wanted) === plainVersion(present) || isSameDate(wanted, present)) return 1;
  return `${present}.`.startsWith(`${wanted}.`) || `${wanted}.`.startsWith(`${present}.`) ? WITHIN : 0;
}

function isSameDate(wanted: string, present: string): boolean {
  return DATE.test(wanted) && wanted.split(".").toReversed().join(".") === present;
}
