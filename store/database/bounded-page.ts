/** Bounds on the work for one page of a list, however long the list is. */
export type PageBounds = {
  /** Number of rows that are read first, in the list's order: a frequent match fills a page from these rows. */
  readonly first: number;
  /** Number of rows that an index may find and that are then sorted. */
  readonly found: number;
  /** Number of rows that are read at a time in the list's order, and number of such steps. */
  readonly step: number;
  readonly steps: number;
};

export const PAGE_BOUNDS: PageBounds = { first: 250, found: 2_000, step: 1_000, steps: 5 };

/** Matching rows in their order, and the position at which the list continues after the rows read; null at its end. */
export type ScannedRows<Position> = { readonly positions: readonly Position[]; readonly next: Position | null };

/** Page of a list, and the position at which the next page begins. */
export type BoundedPage<Position> = ScannedRows<Position> & {
  /** True if more rows may match after `next` although the page is not full: reading them all would take too long. */
  readonly isPartial: boolean;
};

/** Two ways of finding matching rows. */
export type PageSource<Position> = {
  /** Reads the rows in the list's order. */
  walk(bounds: Pick<PageBounds, "step" | "steps">): Promise<ScannedRows<Position>>;
  /** Finds the rows by an index; undefined if the search asks for nothing rare, or if it proves to be frequent. */
  askIndex(): Promise<ScannedRows<Position> | undefined>;
};

/**
 * Finds a page of a list. Frequent matches are found by a walk along the list, rare matches by an index. Both read a
 * bounded number of rows.
 *
 * @param limit rows of a page; both ways find one row more, if there is one
 */
export async function findBoundedPage<Position>(
  limit: number,
  bounds: PageBounds,
  { walk, askIndex }: PageSource<Position>,
): Promise<BoundedPage<Position>> {
  // A page of more than the first rows is not filled with these.
  const begun = limit < bounds.first ? await walk({ step: bounds.first, steps: 1 }) : undefined;
  const isEnough = begun !== undefined && (begun.next === null || begun.positions.length > limit);
  return pageOfRows(isEnough ? begun : ((await askIndex()) ?? (await walk(bounds))), limit);
}

/** Returns the page that rows begin with. */
export function pageOfRows<Position>(found: ScannedRows<Position>, limit: number): BoundedPage<Position> {
  const positions = found.positions.slice(0, limit);
  const isFull = found.positions.length > limit;
  return {
    positions,
    next: isFull ? (positions.at(-1) ?? null) : found.next,
    isPartial: !isFull && found.next !== null,
  };
}
