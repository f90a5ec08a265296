/** Maximum size of a page in bytes as it is sent. A page with one item may be larger (threats b109). */
export const PAGE_BYTES = 1_048_576;

/** Rows of a list in its order, and whether more rows follow. */
export type ListPage<Row> = { readonly items: readonly Row[]; readonly isMore: boolean };

/** Bounds on how much of the rows is read. */
export type PageSize = {
  /** Bytes of the stored form, which is never larger than the form that is sent; {@link PAGE_BYTES} if left out. */
  readonly bytes?: number | undefined;
  /** Number of characters of each content, from its beginning; all if left out. */
  readonly characters?: number | undefined;
};

/**
 * Asks again for a page if all that it found was deleted before it was read. A page without a row would end its list,
 * because the next page is asked for by the last row.
 */
export async function nonEmpty<Row>(ask: () => Promise<ListPage<Row>>): Promise<ListPage<Row>> {
  for (;;) {
    const page = await ask();
    if (page.items.length > 0 || !page.isMore) return page;
  }
}
