/** Maximum number of names that a message lists. */
export const MAX_LISTED = 20;

/** Returns names for a sentence: the first of many, and "and others" if there are more. */
export function listed(names: readonly string[]): string {
  const shown = names.slice(0, MAX_LISTED).join(", ");
  return names.length > MAX_LISTED ? `${shown} and others` : shown;
}
