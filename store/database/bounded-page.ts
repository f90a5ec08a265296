/** How much work one page of a list may be, however long the list is. */
export type PageBounds = {
  /** Rows that are looked at in the list's order first: what is frequent fills a page with these. */
  readonly first: number;
  /** Rows that an index may find, to be sorted. */
  readonly found: number;
  /** Rows that are looked at in the list's order at a time, and how often. */
  readonly step: number;
  readonly steps: number;
};

export const PAGE_BOUNDS: PageBounds = { first: 250, found: 2_000, step: 1_000, steps: 5 };

/** Wanted rows in their order, and where the list goes on behind those that were looked at; null at its end. */
export type ScannedRows<Position> = { readonly positions: readonly Position[]; readonly next: Position | null };

/** A page of a list, and where the next one begins. */
export type BoundedPage<Position> = ScannedRows<Position> & {
  /** Whether more may match before the page is full, behind `next`: looking through them all would take too long. */
  readonly isPartial: boolean;
};

/** The two ways in which wanted rows are found. */
export type PageSource<Position> = {
  /** Looks at the rows in the list's order. */
  walk(bounds: Pick<PageBounds, "step" | "steps">): Promise<ScannedRows<Position>>;
  /** Undefined where nothing is asked for that is rare, or where it is not. */
  askIndex(): Promise<ScannedRows<Position> | undefined>;
};

/**
 * Finds a page of a list. What is frequent is found by walking along the list, what is rare by an index: in either way a
 * bounded number of rows is read.
 *
 * @param limit rows of a page; each way finds one more where there is one
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

/** The page that rows begin with. */
export function pageOfRows<Position>(found: ScannedRows<Position>, limit: number): BoundedPage<Position> {
  const positions = found.positions.slice(0, limit);
  const isFull = found.positions.length > limit;
  return {
    positions,
    next: isFull ? (positions.at(-1) ?? null) : found.next,
    isPartial: !isFull && found.next !== null,
  };
}
