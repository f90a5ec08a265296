/** Maximum length of the name of the resource that manages a key, in code points. */
export const MAX_MANAGED_BY = 2_048;

/** Control and format characters, and line breaks: a terminal or a page would act on them. */
const UNSEEN = "\\p{Cc}\\p{Cf}\\p{Zl}\\p{Zp}";

/** Pattern of the URN of a Pulumi resource, which contains names that its author chose. */
export const MANAGED_BY_PATTERN = `^urn:pulumi:[^${UNSEEN}]+$`;

/** Returns a resource's URN as the management API accepts it: truncated if it is long, so that people recognise it. */
export function managedByOf(urn: string): string {
  const shown = urn.replace(new RegExp(`[${UNSEEN}]`, "gu"), "?");
  return [...shown].slice(0, MAX_MANAGED_BY).join("");
}
