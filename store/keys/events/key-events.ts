import type { Db } from "../../database/change.ts";
import { toMs } from "../../database/times.ts";

/** Event in the life of a key, from the audit log. */
export type KeyEvent = {
  readonly id: number;
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** Name of the event, such as `key.revoked`. */
  readonly kind: string;
  readonly actor: string;
  readonly detail: Readonly<Record<string, unknown>>;
};

/**
 * Lists the events of a key, the latest first.
 *
 * @param beforeId id of the last event of the previous page; undefined for the first page
 */
export async function listKeyEvents(
  db: Db,
  keyId: string,
  { beforeId, limit }: { readonly beforeId: number | undefined; readonly limit: number },
): Promise<KeyEvent[]> {
  const rows = await db
    .selectFrom("audit_events")
    .select(["id", "at", "kind", "actor", "detail"])
    .where("key_id", "=", keyId)
    .where("id", "<", beforeId ?? Number.MAX_SAFE_INTEGER)
    .orderBy("id", "desc")
    .limit(limit)
    .execute();
  return rows.map(({ at, ...event }) => ({ ...event, at: toMs(at) }));
}
