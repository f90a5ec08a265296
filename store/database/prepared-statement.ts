import { hash } from "node:crypto";
import { sql } from "kysely";

/** What the text of such a statement begins with. */
export const PREPARED = "/* prepared */";
/**
 * Begins a statement that is asked all the time, and that takes longer to plan than to run: each connection plans it
 * once. It has to name its columns, since a plan that is kept can give no others after a migration.
 */
export const preparedStatement = sql.raw(PREPARED);

/** The names of the few such statements that there are. */
const names = new Map<string, string>();

/** The name under which pg is to prepare a statement; undefined for one that is not kept. */
export function preparedName(text: string): string | undefined {
  if (!text.startsWith(PREPARED)) return undefined;
  const name = names.get(text) ?? hash("md5", text);
  names.set(text, name);
  return name;
}
