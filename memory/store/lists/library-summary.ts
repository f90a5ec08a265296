import { sql } from "kysely";
import type { Reach } from "../../../domain/access/reach.ts";
import type { Db } from "../../../store/database/change.ts";
import { withOrderedPlans } from "../../../store/database/ordered-plans.ts";
import { preparedStatement } from "../../../store/database/prepared-statement.ts";
import { isAskedFor } from "../../../store/libraries/reachable-libraries.ts";
import { orderOf } from "../rows/atom-order.ts";
import { UNEXPIRED } from "../rows/expired-atoms.ts";

/** Limit of the count: an exact count reads every row. */
const MAX_COUNTED = 1_000;

/** Number of atoms in one library or in all, up to {@link MAX_COUNTED}; `isMore` says that there are more. */
type AtomCount = { readonly atoms: number; readonly isMore: boolean };

/** @param libraryId null for all libraries of the reach */
export async function countAtoms(db: Db, reach: Reach, libraryId: string | null): Promise<AtomCount> {
  const { rows } = await withOrderedPlans(db, (tx) =>
    sql<{ atoms: number }>`${preparedStatement}
      select count(*)::integer as atoms from (
        select from libraries l cross join lateral (
          select a.team_id, a.library_id, a.expires_at from atoms a where a.library_id = l.id and ${UNEXPIRED}
          order by ${orderOf("newest").by} limit ${MAX_COUNTED + 1}
        ) a
        where ${isAskedFor(reach, libraryId)} and a.team_id = l.team_id limit ${MAX_COUNTED + 1}
      ) counted`.execute(tx),
  );
  const atoms = rows[0]?.atoms ?? 0;
  return { atoms: Math.min(atoms, MAX_COUNTED), isMore: atoms > MAX_COUNTED };
}
