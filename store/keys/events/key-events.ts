import type { Db } from "../../database/change.ts";
import { toMs } from "../../database/times.ts";

/** Something that happened to a key, as the audit log has it. */
export type KeyEvent = {
  readonly id: number;
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** As `key.revoked`. */
  readonly kind: string;
  readonly actor: string;
  readonly detail: Readonly<Record<string, unknown>>;
};

/**
 * What happened to a key, the latest first.
 *
 * @param beforeId the last of the page before; undefined for the first page
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
