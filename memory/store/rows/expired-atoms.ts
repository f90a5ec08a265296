import { type RawBuilder, sql } from "kysely";
import type { Tx } from "../../../store/database/change.ts";
import { withOrderedPlans } from "../../../store/database/ordered-plans.ts";
import type { Store } from "../../../store/database/store.ts";
import type { AtomPosition } from "./atom.ts";

/**
 * Condition on `atoms a` that every statement about them carries: an atom expires by the database's clock, which is one
 * for all replicas, and from then on is not found, listed or counted. It is deleted later.
 */
export const UNEXPIRED: RawBuilder<unknown> = sql`(a.expires_at is null or a.expires_at > now())`;

/** Atoms that a statement deletes, as many as in a library's deletion. */
const SLICE = { pglite: 200, postgres: 1_000 } as const;

/** Tables whose rows expire, and their columns with the time. */
const ENDING = [
  { table: "atoms", end: "expires_at" },
  { table: "forgotten_atoms", end: "kept_until" },
] as const;
type Ending = (typeof ENDING)[number];

/**
 * Returns the deletion of expired atoms, and of forgotten atoms whose retention has ended, a slice at a time. Processes
 * that run it at the same time take different atoms. Each slice begins at the end of the slice before: entries of the
 * index that lead to deleted rows are read again as long as another transaction, such as a backup's, may still see
 * those rows.
 */
export function expiredDeletion({ db, engine }: Pick<Store, "db" | "engine">, slice: number = SLICE[engine]) {
  const left: Ending[] = [...ENDING];
  let after: AtomPosition | null = null;
  return {
    /** Deletes one slice. Returns true if there may be more. */
    async next(): Promise<boolean> {
      for (let [ending] = left; ending !== undefined; [ending] = left) {
        const from = { ending, after };
        after = await withOrderedPlans(db, (tx) => deleteSlice(tx, from, slice), "read write");
        if (after !== null) return true;
        left.shift();
      }
      return false;
    },
  };
}

/** Deletes one slice. Returns the position of the last row that was deleted, or null if there was none. */
async function deleteSlice(
  tx: Tx,
  { ending: { table, end }, after }: { readonly ending: Ending; readonly after: AtomPosition | null },
  slice: number,
): Promise<AtomPosition | null> {
  const endsAt = sql.ref(`a.${end}`);
  const { rows } = await sql<{ at: number; id: string }>`
    with doomed as materialized (
      select a.id, ${endsAt} as ended_at from ${sql.table(table)} a where ${endsAt} <= now()
        ${after === null ? sql`` : sql`and (${endsAt}, a.id) > (${new Date(after.at)}::timestamptz, ${after.id}::uuid)`}
      order by ${endsAt}, a.id limit ${slice} for update skip locked
    ), gone as (
      delete from ${sql.table(table)} where id = any(array(select id from doomed))
    )
    select extract(epoch from ended_at)::float8 * 1000 as at, id::text from doomed
    order by ended_at desc, doomed.id desc limit 1`.execute(tx);
  const [last] = rows;
  return last === undefined ? null : { at: Math.round(last.at), id: last.id };
}
