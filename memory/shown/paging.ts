import { problem } from "../../server/http/problems/problem.ts";
import { type ListPage, PAGE_BYTES } from "../../store/libraries/page.ts";
import { type CursorPosition, type CursorScope, readAtomCursor, writeCursor } from "../request/cursor.ts";

/**
 * Returns the position behind which a page begins: null for the first. Throws a problem for a cursor that is not of
 * this list.
 */
export function position(scope: CursorScope, cursor: string | undefined): CursorPosition | null {
  if (!cursor) return null;
  const read = readAtomCursor(scope, cursor);
  if (read === "malformed")
    throw problem("invalid_request", "The cursor is not one of ours: pass a nextCursor unchanged.");
  if (read === "elsewhere") throw problem("not_found", "The cursor belongs to another list: begin without one.");
  return read;
}

/** Scope of a list, and the functions that show a row and give its position. */
type PagedList<Row, Json> = {
  readonly scope: CursorScope;
  positionOf(row: Row): CursorPosition;
  json(row: Row): Json;
};

/** Returns a page as it is shown: of the rows that were read, as many as fit. */
export function page<Row, Json>(
  found: ListPage<Row>,
  { scope, positionOf, json }: PagedList<Row, Json>,
): { items: readonly Json[]; nextCursor: string | null } {
  const items = fittingItems(found.items, json);
  const last = items.length < found.items.length || found.isMore ? found.items[items.length - 1] : undefined;
  return { items, nextCursor: last === undefined ? null : writeCursor(scope, positionOf(last)) };
}

/** Bytes of a page that its items may have: what stands around them takes less than the rest. */
const ITEM_BYTES = PAGE_BYTES - 65_536;

/** Returns the first of these rows as they are shown, as many as fit into a page: one in any case (threats b109). */
function fittingItems<Row, Json>(rows: readonly Row[], json: (row: Row) => Json): Json[] {
  const items: Json[] = [];
  let left = ITEM_BYTES;
  for (const row of rows) {
    const item = json(row);
    left -= encodedBytes(item);
    if (left < 0 && items.length > 0) break;
    items.push(item);
  }
  return items;
}

/** Returns the bytes of a value as JSON, and of the comma behind it. */
function encodedBytes(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value)) + 1;
}
