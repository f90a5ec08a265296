import { createHash } from "node:crypto";
import type { Reach } from "../../domain/access/reach.ts";
import { EARLIEST, LATEST } from "./times.ts";

/** List that a cursor continues: this list, and no other. */
export type CursorScope = {
  readonly list: "atoms" | "search" | "revisions" | "neighbours" | "libraries";
  /** Owner of the list. */
  readonly reach: Pick<Reach, "teamId" | "subject">;
  /** Library that the list is of, in one incarnation; null if the list spans libraries. */
  readonly library: { readonly id: string; readonly incarnation: string } | null;
  /** Filters, search or atom's id that narrow the list, and its order. */
  readonly filter: string | null;
};

/**
 * Position behind which the next page begins: of atoms the time and the id of the last, and its importance if they are
 * ordered by it; of a search the number of results before and the id of the last; of revisions its number; of libraries
 * the id.
 */
export type CursorPosition = {
  readonly at: number;
  readonly id: string;
  readonly importance?: number;
  /** Characters of this revision's content behind which the page begins, and not behind the revision. */
  readonly offset?: number;
};

/**
 * Result of reading a cursor: `malformed` is 400; `elsewhere`, a cursor of another team, list or incarnation of a
 * library, is 404 (threats b58, b62).
 */
type ReadCursor = CursorPosition | "malformed" | "elsewhere";

/** Limits of positions, so that nothing that a caller makes up fails in the database. */
const ATOM = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const POSITIONS = {
  atoms: { first: EARLIEST, last: LATEST, id: ATOM },
  neighbours: { first: EARLIEST, last: LATEST, id: ATOM },
  search: { first: 0, last: 10_000, id: ATOM },
  // Of a revision that a cursor begins within, the next one is asked for: an integer of the database, too.
  revisions: { first: 0, last: 2_147_483_646, id: /^$/ },
  libraries: { first: 0, last: 0, id: /^[A-Za-z0-9_-]{1,64}$/ },
} as const;

/** Makes an opaque cursor. It grants nothing: every page is filtered anew by what the key may reach. */
export function writeCursor(scope: CursorScope, position: CursorPosition): string {
  const { at, id, importance, offset } = position;
  const parts = [binding(scope), at, id, importance ?? offset].filter((part) => part !== undefined);
  return Buffer.from(JSON.stringify(parts)).toString("base64url");
}

/** Reads a cursor that a caller sent. */
export function readAtomCursor(scope: CursorScope, text: string): ReadCursor {
  if (!/^[A-Za-z0-9_-]{1,256}$/.test(text)) return "malformed";
  let parts: unknown;
  try {
    parts = JSON.parse(Buffer.from(text, "base64url").toString());
  } catch {
    return "malformed";
  }
  if (!Array.isArray(parts) || parts.length < 3 || parts.length > 4) return "malformed";
  const [bound, at, id, more]: unknown[] = parts;
  if (typeof bound !== "string" || typeof at !== "number" || typeof id !== "string") return "malformed";
  if (more !== undefined && typeof more !== "number") return "malformed";
  if (bound !== binding(scope)) return "elsewhere";
  const allowed = POSITIONS[scope.list];
  const isPosition = Number.isSafeInteger(at) && at >= allowed.first && at <= allowed.last && allowed.id.test(id);
  if (!isPosition) return "malformed";
  if (more === undefined) return { at, id };
  if (scope.list !== "revisions") return { at, id, importance: more };
  return Number.isSafeInteger(more) && more >= 0 ? { at, id, offset: more } : "malformed";
}

function binding({ list, reach: { teamId, subject }, library, filter }: CursorScope): string {
  const owner = subject === undefined ? [] : [subject];
  const text = JSON.stringify([list, teamId, library?.id ?? null, library?.incarnation ?? null, filter, ...owner]);
  return createHash("sha256").update(text).digest("base64url").slice(0, 22);
}
