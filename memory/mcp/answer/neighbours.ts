import type { CursorScope } from "../../request/cursor.ts";
import { listNeighbours } from "../../store/lists/neighbours.ts";
import type { Atom } from "../../store/rows/atom.ts";
import { positionOf } from "../../store/rows/atom-order.ts";
import { readSize } from "../definition/budget.ts";
import { placeOfCursor, type ToolContext } from "../definition/tool.ts";
import type { Recalled } from "./recalled.ts";
import { cutAtom, fittingAtoms, shownAtom, shownFacts } from "./shown-atom.ts";
import { cursorBehind } from "./shown-page.ts";

/** Of a neighbour so many characters show what it is about: it is read by its id. */
const BRIEF = 200;
/** Beside their atom they take no more of an answer than this part. */
const SHARE_BESIDE = 1 / 4;

type Asked = {
  readonly limit: number;
  readonly maxTokens: number;
  /** Behind which they are read on: then without their atom, whose caller has it. */
  readonly cursor?: string | undefined;
};

/** The neighbours of an atom, as many as there is room for. */
export async function shownNeighbours(
  context: ToolContext,
  atom: Atom,
  { limit, maxTokens, cursor }: Asked,
): Promise<Pick<Recalled, "neighbours" | "nextCursor">> {
  const { db, reach } = context;
  const scope: CursorScope = { list: "neighbours", reach, library: null, filter: atom.id };
  const room = cursor === undefined ? maxTokens * SHARE_BESIDE : maxTokens - LEFT_FOR_CURSOR;
  const page = { after: placeOfCursor(scope, cursor), limit, bytes: readSize(room).bytes, characters: BRIEF + 1 };
  const found = await listNeighbours(db, reach, atom, page);
  const shown = found.items.map(({ atom: neighbour, relations }) => {
    const { id, library, shared = false, content, validFrom, validTo } = shownFacts(context, neighbour);
    const facts = { relations, validFrom, validTo, shared, ...(library && { library }) };
    return cutAtom(shownAtom({ id, content, ...facts }), BRIEF);
  });
  const neighbours = fittingAtoms(shown, room);
  const behind = (neighbour: (typeof found.items)[number]) => positionOf("newest", neighbour.atom);
  return { neighbours, nextCursor: cursorBehind(found, neighbours.length, scope, behind) };
}

/** Tokens of what an answer says around its neighbours. */
const LEFT_FOR_CURSOR = 100;
