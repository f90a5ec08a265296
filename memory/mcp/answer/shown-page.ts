import type { ListPage } from "../../../store/libraries/page.ts";
import { type CursorPosition, type CursorScope, writeCursor } from "../../request/cursor.ts";
import { compact, paragraphs, sentences, textWithin, tokensIn } from "../definition/budget.ts";
import { atomText, fittingAtoms, type ShownAtom } from "./shown-atom.ts";

/** A list of atoms as a tool answers it. */
export type ShownPage = {
  readonly note?: string;
  readonly items?: readonly ShownAtom[];
  readonly nextCursor?: string | null;
  readonly semantic?: boolean;
  readonly truncated?: boolean;
};

type Paged<Row> = {
  readonly scope: CursorScope;
  positionOf(row: Row): CursorPosition;
  show(row: Row): ShownAtom;
  readonly maxTokens: number;
  readonly semantic?: boolean;
  /** Where a row is read on whose content is cut behind so many characters of what is shown; left out for no cursor. */
  within?(row: Row, characters: number): CursorPosition;
  /** What there is to be said of what was found, or of that nothing was. */
  readonly notes: readonly string[];
};

/** No cursor is longer. */
export const LONGEST_CURSOR = "x".repeat(150);
export const CUT =
  "This is cut to maxTokens. memory_recall reads on in an atom that is truncated, with its id and its nextOffset as offset.";
const CUT_WITHIN = "This is cut to maxTokens: the next page begins where it is cut.";

/** As many of the rows as there is room for, and where the list goes on. */
export function shownPage<Row>(
  { items: rows, isMore }: ListPage<Row>,
  { scope, positionOf, show, maxTokens, semantic = false, notes, within }: Paged<Row>,
): ShownPage {
  const said = noteOf(notes, maxTokens);
  const cut = within === undefined ? CUT : CUT_WITHIN;
  const most = { note: sentences(said, cut), nextCursor: LONGEST_CURSOR, semantic, truncated: true };
  const whole = rows.map(show);
  const items = fittingAtoms(whole, maxTokens - tokensIn({ ...most, items: [] }, pageText(most)));
  const truncated = items.length < rows.length || items.some((atom) => atom.truncated);
  const shown = items.at(-1)?.content?.length ?? 0;
  const last = shown < (whole[items.length - 1]?.content?.length ?? 0) ? rows[items.length - 1] : undefined;
  return compact({
    note: sentences(said, truncated && cut),
    items,
    nextCursor:
      within === undefined || last === undefined
        ? cursorBehind({ items: rows, isMore }, items.length, scope, positionOf)
        : writeCursor(scope, within(last, shown)),
    semantic,
    truncated,
  });
}

/** Where a list goes on of which so many rows are shown; null at its end. */
export function cursorBehind<Row>(
  { items, isMore }: ListPage<Row>,
  shown: number,
  scope: CursorScope,
  positionOf: (row: Row) => CursorPosition,
): string | null {
  const last = shown < items.length || isMore ? items[shown - 1] : undefined;
  return last === undefined ? null : writeCursor(scope, positionOf(last));
}

/** What is said of an answer, in a quarter of it at most. */
export function noteOf(notes: readonly string[], maxTokens: number): string {
  return textWithin(notes.join(" "), Math.floor(maxTokens / 4));
}

/** The same for a reader of text. */
export function pageText({ note, items = [], nextCursor, semantic }: ShownPage): string {
  return paragraphs(
    note,
    ...items.map(atomText),
    nextCursor && `There is more: pass cursor ${nextCursor}`,
    semantic && SEMANTIC_TEXT,
  );
}

export const SEMANTIC_TEXT = "Looked for by meaning too.";
