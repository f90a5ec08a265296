import { sql } from "kysely";
import type { Db } from "../database/change.ts";
import { preparedStatement } from "../database/prepared-statement.ts";
import type { FeedPosition } from "../replicas/replicas.ts";

/**
 * Declared key that was changed by hand: it was revoked or reported as leaked, or a new version of it was requested. Or
 * the own key of a declared library that was revoked by hand.
 */
type ManuallyChangedKey = {
  readonly keyId: string;
  /** Kind of the declaration. */
  readonly kind: "PlatformKey" | "MemoryLibrary";
  readonly namespace: string;
  readonly name: string;
};

type ManualKeyChanges = {
  /** Position from which to ask next time. */
  readonly head: FeedPosition;
  /** True if the feed does not reach back so far, or that change was never made here: the database was rolled back. */
  readonly gap: boolean;
  readonly keys: readonly ManuallyChangedKey[];
};

/**
 * Lists the keys of a cluster that were revoked by hand, have a requested rotation or a leaked version, and changed
 * after a position. After a gap, lists all such keys.
 */
export async function manualKeyChanges(db: Db, cluster: string, { seq, id }: FeedPosition): Promise<ManualKeyChanges> {
  const { rows } = await sql<
    { head: number; headId: string | null; gap: boolean } & ManuallyChangedKey
  >`${preparedStatement}
    with feed_now as (
      select head, (select id from changes where seq = head) as "headId", ${seq}::bigint > head
        or (select id from changes where seq = ${seq}::bigint) is distinct from ${id}::uuid
        or (head > ${seq}::bigint and not exists (select from changes where seq = ${seq}::bigint + 1)) as gap from feed
    ), by_hand as (
      select k.id as "keyId", 'PlatformKey' as kind, k.namespace, k.name from keys k
      where k.cluster = ${cluster} and k.owner_uid is not null
        and (k.revocation_reason in ('ByHand', 'Leaked') or (k.state <> 'revoked' and k.rotation_requested_at is not null)
          or exists (select from key_leaks where key_id = k.id))
        and ((select gap from feed_now)
          or k.id in (select ref from changes where seq > ${seq}::bigint and kind = 'key'))
      union all
      select k.id, 'MemoryLibrary', l.namespace, l.name
      from library_embeddings e join keys k on k.id = e.key_id join libraries l on l.id = e.library_id
      where k.cluster = ${cluster} and not e.is_ended and k.revocation_reason in ('ByHand', 'Leaked')
        and ((select gap from feed_now)
          or k.id in (select ref from changes where seq > ${seq}::bigint and kind = 'key'))
    )
    select feed_now.*, by_hand.* from feed_now left join by_hand on true order by by_hand."keyId"`.execute(db);
  const [first] = rows;
  if (first === undefined) throw new Error("the table feed has no row: restore it, or the database, from a backup");
  return {
    head: { seq: first.head, id: first.headId },
    gap: first.gap,
    keys: rows
      .filter(({ keyId }) => keyId !== null)
      .map(({ keyId, kind, namespace, name }) => ({ keyId, kind, namespace, name })),
  };
}
