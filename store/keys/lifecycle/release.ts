import { appendAudit } from "../../audit/audit.ts";
import type { Tx } from "../../database/change.ts";

/**
 * Releases a key whose declaration is deleted with `deletionPolicy: Retain`: the key keeps working without an owner.
 * Voids its reserved versions that no Secret can have held.
 */
export async function releaseKey(tx: Tx, keyId: string): Promise<void> {
  const released = await tx
    .updateTable("keys")
    .set({ owner_uid: null })
    .where("id", "=", keyId)
    .where("owner_uid", "is not", null)
    .where("state", "<>", "revoked")
    .returning("team_id")
    .executeTakeFirst();
  if (released === undefined) return;
  await tx
    .updateTable("key_versions")
    .set({ state: "voided" })
    .where("key_id", "=", keyId)
    .where("state", "=", "reserved")
    .where("may_be_read", "=", false)
    .execute();
  await appendAudit(tx, [{ at: null, kind: "key.released", keyId, teamId: released.team_id, detail: {} }]);
}
