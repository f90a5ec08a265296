import { csvLine } from "../../../../domain/csv.ts";
import type { Db } from "../../../../store/database/change.ts";
import type { ListedKey } from "../../../../store/keys/search/key-lists.ts";
import type { KeyPosition } from "../../../../store/keys/search/key-orders.ts";
import { findKeys, type KeySearch, searchKeys } from "../../../../store/keys/search/key-search.ts";
import type { ClusterNames } from "../../../../store/objects/cluster-names.ts";
import type { KeyJson } from "../../../management/keys/shown/key-json.ts";
import { numeral } from "../../column-chart.ts";
import { KEYS_CSV_HEAD, keysCsv } from "./export-selected.ts";

/** Maximum number of keys in a file. */
export const MOST_EXPORTED_KEYS = 5_000;
/** Number of keys per query, and maximum number of queries: a search for what is rare reads many keys for few. */
const SLICE = 250;
const MOST_SLICES = 100;

/** Input of an export of keys. */
type FoundExport = {
  readonly db: Db;
  readonly search: Omit<KeySearch, "after" | "limit">;
  /** Ids of keys that the search's text identifies exactly. They replace the result of the search. */
  readonly identified: readonly string[];
  readonly clusters: ClusterNames;
  /** Returns keys as the list shows them. */
  show(keys: readonly ListedKey[]): Promise<KeyJson[]>;
  /** Checks the caller's rights again. Throws if the caller may no longer read these keys. */
  checkAgain(): Promise<void>;
};

/**
 * Writes all keys that a search finds, in its order, as CSV. The last line says so if keys were cut.
 *
 * @param most maximum number of keys
 */
export async function* foundCsv(
  { db, search, identified, clusters, show, checkAgain }: FoundExport,
  most = MOST_EXPORTED_KEYS,
): AsyncGenerator<string> {
  const linesOf = async (keys: readonly ListedKey[]) => {
    const shown = new Map((await show(keys)).map((key) => [key.id, key]));
    return keysCsv([...shown.keys()], shown, clusters);
  };
  yield KEYS_CSV_HEAD;
  if (identified.length > 0) return yield await linesOf(await findKeys(db, identified));
  let after: KeyPosition | undefined;
  let written = 0;
  for (let slice = 0; slice < MOST_SLICES; slice++) {
    if (slice > 0) await checkAgain();
    const { keys, next } = await searchKeys(db, { ...search, after, limit: Math.min(SLICE, most - written) });
    // Yields an empty piece too: the generator stops here if its reader has left.
    yield keys.length > 0 ? await linesOf(keys) : "";
    written += keys.length;
    if (next === null) return;
    if (written >= most) return yield cutLine(`there are more keys than the ${numeral(most)} first`);
    after = next;
  }
  yield cutLine("more keys may match than were looked through");
}

function cutLine(what: string): string {
  return `${csvLine([`Cut here: ${what}. Search for fewer.`])}\r\n`;
}
