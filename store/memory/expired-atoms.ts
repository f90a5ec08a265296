import { type RawBuilder, sql } from "kysely";
import type { Tx } from "../database/change.ts";
import { withOrderedPlans } from "../database/ordered-plans.ts";
import type { Store } from "../database/store.ts";
import type { AtomPosition } from "./atom.ts";

/**
 * The condition on `atoms a` that every statement about them carries: an atom ends by the database's clock, which is
 * one for all replicas, and from that moment on is not found, listed or counted. It is deleted later.
 */
export const UNEXPIRED: RawBuilder<unknown> = sql`(a.expires_at is null or a.expires_at > now())`;

/** Atoms of one statement, as of a library's deletion. */
const SLICE = { pglite: 200, postgres: 1_000 } as const;

/**
 * The deletion of atoms that have expired, a slice at a time. Several processes at once take different ones. Each slice
 * begins where the one before ended: entries of the index that lead to deleted rows are read again as long as another
 * transaction, such as a backup's, may still see those.
 */
export function expiredDeletion({ db, engine }: Pick<Store, "db" | "engine">, slice: number = SLICE[engine]) {
  let after: AtomPosition | null = null;
  return {
    /** Deletes some. Returns whether there may be more. */
    async next(): Promise<boolean> {
      const from = after;
      after = await withOrderedPlans(db, (tx) => deleteSlice(tx, from, slice), "read write");
      return after !== null;
    },
  };
}

/** The last that was deleted; null for none. */
async function deleteSlice(tx: Tx, after: AtomPosition | null, slice: number): Promise<AtomPosition | null> {
  const { rows } = await sql<{ at: number; id: string }>`
    with doomed as materialized (
      select a.id, a.expires_at from atoms a where a.expires_at <= now()
        ${after === null ? sql`` : sql`and (a.expires_at, a.id) > (${new Date(after.at)}::timestamptz, ${after.id}::uuid)`}
      order by a.expires_at, a.id limit ${slice} for update skip locked
    ), gone as (
      delete from atoms where id = any(array(select id from doomed))
    )
    select extract(epoch from expires_at)::float8 * 1000 as at, id::text from doomed
    order by expires_at desc, doomed.id desc limit 1`.execute(tx);
  const [last] = rows;
  return last === undefined ? null : { at: Math.round(last.at), id: last.id };
}
