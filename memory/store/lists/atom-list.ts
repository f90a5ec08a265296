import { sql } from "kysely";
import type { Reach } from "../../../domain/access/reach.ts";
import type { Db } from "../../../store/database/change.ts";
import { withOrderedPlans } from "../../../store/database/ordered-plans.ts";
import { type ListPage, nonEmpty, type PageSize } from "../../../store/libraries/page.ts";
import type { Atom, AtomPosition } from "../rows/atom.ts";
import { orderOf, type Sort } from "../rows/atom-order.ts";
import { bytesBefore, readInOrder, readWithin, storedBytes } from "../rows/atoms-within.ts";
import {
  ATOM_PAGE_BOUNDS,
  type AtomList,
  type AtomListFilter,
  type AtomPageBounds,
  firstOf,
  idsOf,
} from "./atom-pages.ts";

/**
 * Returns one page of the reach's atoms that pass a filter, from behind `after` on; the newest first unless `sort` says
 * otherwise.
 */
export async function listAtoms(
  db: Db,
  reach: Reach,
  page: AtomListFilter &
    PageSize & {
      readonly libraryId: string | null;
      readonly sort?: Sort;
      readonly after: AtomPosition | null;
      readonly limit: number;
    },
  bounds: AtomPageBounds = ATOM_PAGE_BOUNDS,
): Promise<ListPage<Atom>> {
  const { limit, libraryId, after, sort = "newest", bytes, characters, ...filter } = page;
  const size = { bytes, characters };
  const list: AtomList = { reach, libraryId, after, sort, filter };
  if (Object.values(filter).every((each) => each === undefined)) {
    const { atoms, cut } = await withOrderedPlans(db, (tx) =>
      readWithin(tx, reach, positionsOf(list, limit + 1, size), { ...size, limit }),
    );
    return { items: atoms, isMore: cut.length > 0 };
  }
  return nonEmpty(async () => {
    const ids = await idsOf(db, list, limit + 1, bounds);
    const { atoms, cut } = await readInOrder(db, reach, ids.slice(0, limit), size);
    return { items: atoms, isMore: cut.length > 0 || ids.length > limit };
  });
}

/** Returns the positions of the first atoms of a list, whatever its filter, for {@link readWithin}. */
function positionsOf(list: AtomList, limit: number, size: PageSize) {
  const { by } = orderOf(list.sort);
  return sql`select a.id, row_number() over (order by ${by}) as place, ${bytesBefore(by)} as before from (
      select a.id, a.created_at, a.updated_at, a.importance, ${storedBytes(size)} as bytes from ${firstOf(list, limit)}
    ) a`;
}
