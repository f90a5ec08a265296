import { sql } from "kysely";
import { type Author, appendAudit } from "../../audit/audit.ts";
import type { Tx } from "../../database/change.ts";
import { DATABASE_NOW } from "../../database/times.ts";

/**
 * Requests a new version by hand. Only the activation of a version that is minted later fulfils the request. If several
 * requests come at once, the latest time stands, and the old version ends if any of them wants that.
 *
 * @param revokeOld true if the present version ends when the new version becomes active, without an overlap
 */
export async function requestRotation(tx: Tx, keyId: string, revokeOld: boolean, by?: Author): Promise<void> {
  await sql`select from keys where id = ${keyId} for update`.execute(tx);
  const asked = await tx
    .updateTable("keys")
    .set({
      rotation_requested_at: sql`greatest(rotation_requested_at, ${DATABASE_NOW},
        (select max(minted_at) + interval '1 millisecond' from key_versions where key_id = ${keyId}))`,
      rotation_revoke_old: sql`rotation_revoke_old or ${revokeOld}::boolean`,
    })
    .where("id", "=", keyId)
    .where("state", "<>", "revoked")
    .returning("team_id")
    .executeTakeFirst();
  if (asked === undefined) return;
  await appendAudit(tx, [
    { at: null, kind: "key.rotation_requested", keyId, teamId: asked.team_id, by, detail: { revokeOld } },
  ]);
}
