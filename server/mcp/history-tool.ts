import { listRevisions } from "../../store/memory/atom-revisions.ts";
import { revisionJson } from "../memory/atom-json.ts";
import type { CursorScope } from "../memory/cursor.ts";
import { reachOf } from "../memory/libraries.ts";
import { page } from "../memory/paging.ts";
import { ATOM_ID, CURSOR } from "../memory/schemas.ts";
import { REVISIONS_OUTPUT, revisionText, shownBytes } from "./atom-text.ts";
import {
  defineTool,
  LIST_LIMIT,
  NEXT_CURSOR,
  NO_ATOM_HINT,
  nextPageHint,
  placeOfCursor,
  READ_ANNOTATIONS,
  ToolFault,
} from "./tool.ts";

export const memoryHistory = defineTool<{ id: string; limit: number; cursor?: string }>(
  {
    operation: "mcp.memory_history",
    title: "History of an atom",
    description:
      "Lists the revisions of one atom, the present one first: what it said before it was corrected, and when. Use it when an atom contradicts what you know, or to restore an earlier statement with memory_correct_atom.",
    annotations: READ_ANNOTATIONS,
    input: { id: ATOM_ID, limit: LIST_LIMIT, cursor: CURSOR },
    requires: ["id"],
    output: { items: REVISIONS_OUTPUT, nextCursor: NEXT_CURSOR },
  },
  async ({ db, key }, { id, limit, cursor }) => {
    const scope: CursorScope = { list: "revisions", teamId: key.teamId, library: null, filter: id };
    const before = placeOfCursor(scope, cursor)?.at ?? null;
    const revisions = await listRevisions(db, reachOf(key), id, { before, limit });
    if (revisions === undefined) throw new ToolFault(NO_ATOM_HINT);
    const { items, nextCursor } = page(revisions, {
      scope,
      positionOf: ({ revision }) => ({ at: revision, id: "" }),
      json: revisionJson,
      bytesOf: shownBytes(revisionText),
    });
    return { structured: { items, nextCursor }, text: items.map(revisionText).join("\n\n") + nextPageHint(nextCursor) };
  },
);
