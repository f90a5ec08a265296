import type { Atom } from "../../store/rows/atom.ts";
import { compact, paragraphs, sentences, tokensIn } from "../definition/budget.ts";
import { ToolFault } from "../definition/tool.ts";
import { atomText, fittingAtoms, fittingBriefs, restOf, type ShownAtom, shortenAtom } from "./shown-atom.ts";
import { CUT, noteOf, SEMANTIC_TEXT } from "./shown-page.ts";

/** What memory_recall answers. */
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

type Found = {
  /** What was read. */
  readonly atoms: readonly Atom[];
  /** What was found besides. */
  readonly cut: readonly string[];
  readonly missing?: readonly string[];
  /** Of the only atom, as much as there is room for, and where they go on. */
  readonly beside?: Pick<Recalled, "neighbours" | "nextCursor">;
  readonly semantic?: boolean;
  readonly notes: readonly string[];
  readonly maxTokens: number;
  /** Of a topic, when it is asked for; else atoms were asked for, and are shown with all that is beside them. */
  readonly briefingAt?: number;
  /** Where the content of the only atom is read on. */
  readonly offset?: number | undefined;
  show(atom: Atom): ShownAtom;
};

/** Each of the two lists of ids takes no more of an answer than this part. */
const SHARE_OF_IDS = 1 / 8;

/** As many of the atoms as there is room for, and the ids of those behind them. */
export function recalled(found: Found): Recalled {
  const { atoms, cut, missing = [], beside, semantic = false, notes, maxTokens, briefingAt, offset } = found;
  const said = noteOf(notes, maxTokens);
  const room = maxTokens * SHARE_OF_IDS;
  const unknown = idsWithin(missing, room);
  const answerOf = (items: readonly ShownAtom[], omitted: readonly string[], isCut: boolean): Recalled => {
    const shown = idsWithin(omitted, room);
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
  // Those that have no room are named.
  const ids = atoms.map(({ id }) => id);
  const items = fittingIn(leftFor(answerOf([], [...ids, ...cut], true)));
  return compact(answerOf(items, [...ids.slice(items.length), ...cut], true));
}

/** The same for a reader of text. */
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
