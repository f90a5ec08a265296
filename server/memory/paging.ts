import { problem } from "../http/errors.ts";
import { type CursorPosition, type CursorScope, readCursor, writeCursor } from "./cursor.ts";

/** Where a page begins: null for the first. Throws a problem for a cursor that is not of this list. */
export function position(scope: CursorScope, cursor: string | undefined): CursorPosition | null {
  if (!cursor) return null;
  const read = readCursor(scope, cursor);
  if (read === "malformed")
    throw problem("invalid_request", "The cursor is not one of ours: pass a nextCursor unchanged.");
  if (read === "elsewhere") throw problem("not_found", "The cursor belongs to another list: begin without one.");
  return read;
}

/** A list, and how a row of it is shown and found again. */
type PagedList<Row, Json> = {
  readonly scope: CursorScope;
  positionOf(row: Row): CursorPosition;
  json(row: Row): Json;
};

/** One page of a list that was read one row too far, which tells whether there is another. */
export function page<Row, Json>(
  rows: readonly Row[],
  limit: number,
  { scope, positionOf, json }: PagedList<Row, Json>,
): { items: Json[]; nextCursor: string | null } {
  const last = rows.length > limit ? rows[limit - 1] : undefined;
  return {
    items: rows.slice(0, limit).map(json),
    nextCursor: last === undefined ? null : writeCursor(scope, positionOf(last)),
  };
}
