/** As many names as a message lists. */
export const MAX_LISTED = 20;

/** Names in a sentence: the first of many, and how it is seen that there are more. */
export function listed(names: readonly string[]): string {
  const shown = names.slice(0, MAX_LISTED).join(", ");
  return names.length > MAX_LISTED ? `${shown} and others` : shown;
}
