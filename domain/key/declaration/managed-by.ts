/** The longest name of what manages a key, in code points. */
export const MAX_MANAGED_BY = 2_048;

/** Control and format characters, and breaks of lines: a terminal or a page would act on them. */
const UNSEEN = "\\p{Cc}\\p{Cf}\\p{Zl}\\p{Zp}";

/** The URN of a Pulumi resource, which has the names that its author chose. */
export const MANAGED_BY_PATTERN = `^urn:pulumi:[^${UNSEEN}]+$`;

/** A resource's URN as the management API takes it: one that is too long is cut off, for people to recognise all the same. */
export function managedByOf(urn: string): string {
  const shown = urn.replace(new RegExp(`[${UNSEEN}]`, "gu"), "?");
  return [...shown].slice(0, MAX_MANAGED_BY).join("");
}
