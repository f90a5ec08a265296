/** Bytes of a page as it is sent, but for one item that has more by itself (threats b109). */
export const PAGE_BYTES = 1_048_576;

/** Rows of a list in its order, and whether there are more behind them. */
export type ListPage<Row> = { readonly items: readonly Row[]; readonly isMore: boolean };

/** How much of the rows that are there is read. */
export type PageSize = {
  /** Of what is stored, which is never more than what is sent of it; {@link PAGE_BYTES} where it is left out. */
  readonly bytes?: number | undefined;
  /** Of each content, from its beginning; all of it where it is left out. */
  readonly characters?: number | undefined;
};

/**
 * Asks for a page anew where all that it found was deleted before it was read: a page without a row, by whose last one
 * the next is asked for, would end its list.
 */
export async function nonEmpty<Row>(ask: () => Promise<ListPage<Row>>): Promise<ListPage<Row>> {
  for (;;) {
    const page = await ask();
    if (page.items.length > 0 || !page.isMore) return page;
  }
}
