import { type RawBuilder, sql } from "kysely";
import type { Tx } from "../../../store/database/change.ts";
import { withOrderedPlans } from "../../../store/database/ordered-plans.ts";
import type { Store } from "../../../store/database/store.ts";
import type { AtomPosition } from "./atom.ts";

/**
 * The condition on `atoms a` that every statement about them carries: an atom ends by the database's clock, which is
 * one for all replicas, and from that moment on is not found, listed or counted. It is deleted later.
 */
export const UNEXPIRED: RawBuilder<unknown> = sql`(a.expires_at is null or a.expires_at > now())`;

/** Atoms of one statement, as of a library's deletion. */
const SLICE = { pglite: 200, postgres: 1_000 } as const;

/** Where rows of atoms end by themselves, and the column that says when. */
const ENDING = [
  { table: "atoms", end: "expires_at" },
  { table: "forgotten_atoms", end: "kept_until" },
] as const;
type Ending = (typeof ENDING)[number];

/**
 * The deletion of atoms that have expired, and of forgotten ones that are kept no longer, a slice at a time. Several
 * processes at once take different ones. Each slice begins where the one before ended: entries of the index that lead to
 * deleted rows are read again as long as another transaction, such as a backup's, may still see those.
 */
export function expiredDeletion({ db, engine }: Pick<Store, "db" | "engine">, slice: number = SLICE[engine]) {
  const left: Ending[] = [...ENDING];
  let after: AtomPosition | null = null;
  return {
    /** Deletes some. Returns whether there may be more. */
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

/** The last that was deleted; null for none. */
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
