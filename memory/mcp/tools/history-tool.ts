import type { CursorScope } from "../../request/cursor.ts";
import { ATOM_ID, CURSOR } from "../../request/schemas.ts";
import { revisionJson } from "../../shown/atom-json.ts";
import { listRevisions } from "../../store/lists/atom-revisions.ts";
import { ATOMS_OUTPUT, restOf, shownAtom } from "../answer/shown-atom.ts";
import { pageText, type ShownPage, shownPage } from "../answer/shown-page.ts";
import {
  defineTool,
  LIST_LIMIT,
  NO_ATOM_HINT,
  PAGE_OUTPUT,
  positionOfCursor,
  READ_ANNOTATIONS,
  ToolFault,
} from "../definition/tool.ts";

type Args = { id: string; limit: number; cursor?: string };

export const memoryHistory = defineTool<Args, ShownPage>(
  {
    operation: "mcp.memory_history",
    title: "History of an atom",
    description:
      "Lists the revisions of one atom, the present one first. Use it when an atom contradicts what you know, or to restore an earlier statement with memory_correct_atom.",
    annotations: READ_ANNOTATIONS,
    input: { id: ATOM_ID, limit: LIST_LIMIT, cursor: CURSOR },
    requires: ["id"],
    output: { items: ATOMS_OUTPUT, ...PAGE_OUTPUT },
    text: pageText,
  },
  async ({ db, reach, noteLibrary }, { id, limit, cursor, maxTokens }) => {
    const scope: CursorScope = { list: "revisions", reach, library: null, filter: id };
    const { at, offset } = positionOfCursor(scope, cursor) ?? {};
    const before = at === undefined || offset === undefined ? at : at + 1;
    const revisions = await listRevisions(db, reach, id, { before: before ?? null, limit });
    if (revisions === undefined) throw new ToolFault(NO_ATOM_HINT);
    noteLibrary(revisions.libraryId);
    const begunAt = (revision: number) => (revision === at ? (offset ?? 0) : 0);
    return shownPage(revisions, {
      ...{ scope, maxTokens, notes: [] },
      positionOf: ({ revision }) => ({ at: revision, id: "" }),
      within: ({ revision }, characters) => ({ at: revision, id: "", offset: begunAt(revision) + characters }),
      show: (revision) => {
        const atom = shownAtom(revisionJson(revision));
        return begunAt(revision.revision) === 0 ? atom : restOf(atom, begunAt(revision.revision));
      },
    });
  },
);
