import { listRevisions } from "../../store/memory/atom-revisions.ts";
import { revisionJson } from "../memory/atom-json.ts";
import { type CursorScope, readCursor, writeCursor } from "../memory/cursor.ts";
import { reachOf } from "../memory/libraries.ts";
import { ATOM_ID, CURSOR } from "../memory/schemas.ts";
import { REVISIONS_OUTPUT, revisionText } from "./atom-text.ts";
import { defineTool, FEW, NEXT_CURSOR, NO_ATOM, READS, ToolFault, WRONG_CURSOR } from "./tool.ts";

export const memoryHistory = defineTool<{ id: string; limit: number; cursor?: string }>(
  {
    operation: "mcp.memory_history",
    title: "History of an atom",
    description:
      "Lists the revisions of one atom, the present one first: what it said before it was corrected, and when. Use it when an atom contradicts what you know, or to restore an earlier statement with memory_correct_atom.",
    annotations: READS,
    input: { id: ATOM_ID, limit: FEW, cursor: CURSOR },
    requires: ["id"],
    output: { items: REVISIONS_OUTPUT, nextCursor: NEXT_CURSOR },
  },
  async ({ db, key }, { id, limit, cursor }) => {
    const scope: CursorScope = { list: "revisions", teamId: key.teamId, library: null, filter: id };
    const after = cursor ? readCursor(scope, cursor) : null;
    if (typeof after === "string") throw new ToolFault(WRONG_CURSOR);
    const revisions = await listRevisions(db, reachOf(key), id, { before: after?.at ?? null, limit: limit + 1 });
    if (revisions === undefined) throw new ToolFault(NO_ATOM);
    const items = revisions.slice(0, limit).map(revisionJson);
    const last = revisions.length > limit ? items.at(-1) : undefined;
    const nextCursor = last === undefined ? null : writeCursor(scope, { at: last.revision, id: "" });
    const more = nextCursor === null ? "" : `\n\nThere are earlier ones: pass cursor ${nextCursor}`;
    return { structured: { items, nextCursor }, text: items.map(revisionText).join("\n\n") + more };
  },
);
