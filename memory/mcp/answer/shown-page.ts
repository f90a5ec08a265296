import type { ListPage } from "../../../store/libraries/page.ts";
import { type CursorPosition, type CursorScope, writeCursor } from "../../request/cursor.ts";
import { compact, paragraphs, sentences, textWithin, tokensIn } from "../definition/budget.ts";
import { atomText, fittingAtoms, type ShownAtom } from "./shown-atom.ts";

/** List of atoms as a tool answers it. */
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
  /**
   * Returns the position within a row at which the next page begins if the row's content is cut behind so many
   * characters; left out if each page begins with a whole row.
   */
  within?(row: Row, characters: number): CursorPosition;
  /** Sentences on what was found, or that nothing was. */
  readonly notes: readonly string[];
};

/** Text as long as the longest cursor. */
export const LONGEST_CURSOR = "x".repeat(150);
export const CUT =
  "This is cut to maxTokens. memory_recall reads on in an atom that is truncated, with its id and its nextOffset as offset.";
const CUT_WITHIN = "This is cut to maxTokens: the next page begins where it is cut.";

/** Returns as many of the rows as fit, and the cursor behind them. */
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

/** Returns the cursor behind the shown rows of a list; null at its end. */
export function cursorBehind<Row>(
  { items, isMore }: ListPage<Row>,
  shown: number,
  scope: CursorScope,
  positionOf: (row: Row) => CursorPosition,
): string | null {
  const last = shown < items.length || isMore ? items[shown - 1] : undefined;
  return last === undefined ? null : writeCursor(scope, positionOf(last));
}

/** Returns the notes on an answer, up to a quarter of it. */
export function noteOf(notes: readonly string[], maxTokens: number): string {
  return textWithin(notes.join(" "), Math.floor(maxTokens / 4));
}

/** Returns the page as text. */
export function pageText({ note, items = [], nextCursor, semantic }: ShownPage): string {
  return paragraphs(
    note,
    ...items.map(atomText),
    nextCursor && `There is more: pass cursor ${nextCursor}`,
    semantic && SEMANTIC_TEXT,
  );
}

export const SEMANTIC_TEXT = "Looked for by meaning too.";
