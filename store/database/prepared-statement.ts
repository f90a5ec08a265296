import { hash } from "node:crypto";
import { sql } from "kysely";

/** Prefix of the text of each such statement. */
export const PREPARED = "/* prepared */";
/**
 * Begins a statement that is asked all the time and takes longer to plan than to run: each connection plans it once.
 * The statement must name its columns, since a kept plan can return no others after a migration.
 */
export const preparedStatement = sql.raw(PREPARED);

/** Names of prepared statements by their text. There are few of them. */
const names = new Map<string, string>();

/** Returns the name under which pg prepares a statement; undefined for a statement that is not kept. */
export function preparedName(text: string): string | undefined {
  if (!text.startsWith(PREPARED)) return undefined;
  const name = names.get(text) ?? hash("md5", text);
  names.set(text, name);
  return name;
}
