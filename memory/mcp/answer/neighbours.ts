import type { CursorScope } from "../../request/cursor.ts";
import { listNeighbours } from "../../store/lists/neighbours.ts";
import type { Atom } from "../../store/rows/atom.ts";
import { positionOf } from "../../store/rows/atom-order.ts";
import { readSize } from "../definition/budget.ts";
import { positionOfCursor, type ToolContext } from "../definition/tool.ts";
import type { Recalled } from "./recalled.ts";
import { cutAtom, fittingAtoms, shownAtom, shownFacts } from "./shown-atom.ts";
import { cursorBehind } from "./shown-page.ts";

/** Characters of a neighbour that show what it is about: it can be read by its id. */
const BRIEF = 200;
/** Part of an answer that neighbours take at most beside their atom. */
const SHARE_BESIDE = 1 / 4;

type NeighbourQuery = {
  readonly limit: number;
  readonly maxTokens: number;
  /** Cursor behind which further neighbours are read. The atom itself is then left out: the caller has it. */
  readonly cursor?: string | undefined;
};

/** Returns the neighbours of an atom, as many as fit. */
export async function shownNeighbours(
  context: ToolContext,
  atom: Atom,
  { limit, maxTokens, cursor }: NeighbourQuery,
): Promise<Pick<Recalled, "neighbours" | "nextCursor">> {
  const { db, reach } = context;
  const scope: CursorScope = { list: "neighbours", reach, library: null, filter: atom.id };
  const budget = cursor === undefined ? maxTokens * SHARE_BESIDE : maxTokens - LEFT_FOR_CURSOR;
  const page = { after: positionOfCursor(scope, cursor), limit, bytes: readSize(budget).bytes, characters: BRIEF + 1 };
  const found = await listNeighbours(db, reach, atom, page);
  const shown = found.items.map(({ atom: neighbour, relations }) => {
    const { id, library, shared = false, content, validFrom, validTo } = shownFacts(context, neighbour);
    const facts = { relations, validFrom, validTo, shared, ...(library && { library }) };
    return cutAtom(shownAtom({ id, content, ...facts }), BRIEF);
  });
  const neighbours = fittingAtoms(shown, budget);
  const behind = (neighbour: (typeof found.items)[number]) => positionOf("newest", neighbour.atom);
  return { neighbours, nextCursor: cursorBehind(found, neighbours.length, scope, behind) };
}

/** Tokens that are kept for what stands around the neighbours of an answer. */
const LEFT_FOR_CURSOR = 100;
