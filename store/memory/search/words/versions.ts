/** `v1.2.0`, and `1.2`, which is the same version. */
const VERSION = /(?<![\p{L}\p{N}.])v?([0-9]+(?:\.[0-9]+){1,4})/giu;
const NOUGHTS = /(?:\.0+)+$/;
/** What a version counts that is a later one within the one that is looked for, or that this one is within. */
const WITHIN = 0.8;

/** The versions in a text, without their `v`: `3.4.0` of `v3.4.0`. A number with a dot is taken for one. */
export function versionsIn(text: string): string[] {
  return Array.from(text.matchAll(VERSION), ([, numbers = ""]) => numbers);
}

/** A text with a space in place of each version. */
export function withoutVersions(text: string): string {
  return text.replace(VERSION, " ");
}

/** A version as each of the same reads: `3.4` of `3.4.0`. */
export function plainVersion(version: string): string {
  return version.replace(NOUGHTS, "");
}

/** How like two versions are: 1 for the same, less where one begins with all of the other, 0 for others and for words. */
export function likenessOfVersions(wanted: string, present: string): number {
  if (!present.includes(".")) return 0;
  if (plainVersion(wanted) === plainVersion(present)) return 1;
  return `${present}.`.startsWith(`${wanted}.`) || `${wanted}.`.startsWith(`${present}.`) ? WITHIN : 0;
}
