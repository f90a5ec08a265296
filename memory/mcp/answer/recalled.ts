import type { Atom } from "../../store/rows/atom.ts";
import { compact, paragraphs, sentences, tokensIn } from "../definition/budget.ts";
import { ToolFault } from "../definition/tool.ts";
import { atomText, fittingAtoms, fittingBriefs, restOf, type ShownAtom, shortenAtom } from "./shown-atom.ts";
import { CUT, noteOf, SEMANTIC_TEXT } from "./shown-page.ts";

/** Answer of memory_recall. */
export type Recalled = {
  readonly note?: string;
  readonly items?: readonly ShownAtom[];
  readonly missing?: readonly string[];
  readonly omitted?: readonly string[];
  readonly neighbours?: readonly ShownAtom[];
  readonly nextCursor?: string | null;
  readonly semantic?: boolean;
  readonly truncated?: boolean;
};

type RecalledAtoms = {
  /** Atoms that were read. */
  readonly atoms: readonly Atom[];
  /** Ids of further atoms that were found, and not read. */
  readonly cut: readonly string[];
  readonly missing?: readonly string[];
  /** Neighbours of the only atom, as many as fit, and the cursor behind them. */
  readonly beside?: Pick<Recalled, "neighbours" | "nextCursor">;
  readonly semantic?: boolean;
  readonly notes: readonly string[];
  readonly maxTokens: number;
  /**
   * Time at which a topic was asked for, in milliseconds since the epoch; left out if atoms were asked for, which are
   * shown with all their facts.
   */
  readonly briefingAt?: number;
  /** Position from which the content of the only atom is read on. */
  readonly offset?: number | undefined;
  show(atom: Atom): ShownAtom;
};

/** Part of an answer that each of the two lists of ids takes at most. */
const SHARE_OF_IDS = 1 / 8;

/** Returns as many of the atoms as fit, and the ids of the others. */
export function recalled(found: RecalledAtoms): Recalled {
  const { atoms, cut, missing = [], beside, semantic = false, notes, maxTokens, briefingAt, offset } = found;
  const said = noteOf(notes, maxTokens);
  const budget = maxTokens * SHARE_OF_IDS;
  const unknown = idsWithin(missing, budget);
  const answerOf = (items: readonly ShownAtom[], omitted: readonly string[], isCut: boolean): Recalled => {
    const shown = idsWithin(omitted, budget);
    const left = omitted.length - shown.length + missing.length - unknown.length;
    const note = sentences(said, isCut && CUT, left > 0 && `${left} more ids have no room here.`);
    return { note, items, missing: unknown, omitted: shown, ...beside, semantic, truncated: isCut };
  };
  const leftFor = (answer: Recalled) => maxTokens - tokensIn(answer, recalledText(answer));
  const shown = atoms.map(found.show);
  const fittingIn = (tokens: number): readonly ShownAtom[] => {
    if (offset !== undefined) return shown.map((atom) => shortenAtom(readOn(atom, offset), tokens, offset));
    return briefingAt === undefined ? fittingAtoms(shown, tokens) : fittingBriefs(shown, tokens, briefingAt);
  };
  const isWhole = (items: readonly ShownAtom[]) =>
    cut.length === 0 && items.length === atoms.length && !items.some(({ truncated }) => truncated);
  const all = fittingIn(leftFor(answerOf([], [], false)));
  if (isWhole(all)) return compact(answerOf(all, [], false));
  // Atoms that do not fit are named by their ids.
  const ids = atoms.map(({ id }) => id);
  const items = fittingIn(leftFor(answerOf([], [...ids, ...cut], true)));
  return compact(answerOf(items, [...ids.slice(items.length), ...cut], true));
}

/** Returns the answer as text. */
export function recalledText(answer: Recalled): string {
  const { note, items = [], missing = [], omitted = [], neighbours = [], nextCursor, semantic } = answer;
  return paragraphs(
    note,
    ...items.map(atomText),
    missing.length > 0 && `No atom was found by these ids: ${missing.join(", ")}`,
    omitted.length > 0 && `Found too, without room here: call memory_recall with these ids: ${omitted.join(", ")}`,
    neighbours.length > 0 && "Linked by it (out) and to it (in):",
    ...neighbours.map(atomText),
    nextCursor && `There are more of these: pass the same id and cursor ${nextCursor}`,
    semantic && SEMANTIC_TEXT,
  );
}

function readOn(atom: ShownAtom, offset: number): ShownAtom {
  const { content = "" } = atom;
  if (offset > content.length)
    throw new ToolFault(`The atom has ${content.length} characters: "offset" is behind them.`);
  return restOf(atom, offset);
}

function idsWithin(ids: readonly string[], tokens: number): readonly string[] {
  let left = tokens;
  const more = ids.findIndex((id) => {
    left -= tokensIn(id, id);
    return left < 0;
  });
  return more < 0 ? ids : ids.slice(0, more);
}
