import { sql } from "kysely";
import { type Author, appendAudit } from "../../audit/audit.ts";
import type { Tx } from "../../database/change.ts";
import { DATABASE_NOW } from "../../database/times.ts";

/**
 * Asks for a new version by hand, that is for one that comes after all there are. The activation of one that was minted
 * later fulfils it. Of several requests the latest time stands, and that one of them wants the old version to end: they
 * may come at once.
 *
 * @param revokeOld whether the present version shall end at that moment, with no overlap
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
