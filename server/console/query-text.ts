/** The longest name, and the longest id. */
export const MAX_NAME_LENGTH = 253;

/** What an address gives for one of its parameters, as text that a database takes; empty for none. */
export function queryText(value: unknown, maxLength = MAX_NAME_LENGTH): string {
  if (typeof value !== "string" || !value.isWellFormed()) return "";
  return value.replaceAll("\0", "").trim().slice(0, maxLength);
}
