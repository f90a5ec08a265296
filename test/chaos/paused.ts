/** What the person on call does where garbage collection has paused, as docs/operations/garbage-collection.md says. */
import { sql } from "kysely";
import { exceedsDeletionLimit } from "../../domain/garbage-collection.ts";
import { change } from "../../store/database/change.ts";
import { revokeKey } from "../../store/keys/lifecycle/revocation.ts";
import type { Report } from "../oracle/report.ts";
import type { Stage } from "./stage.ts";

/**
 * Revokes by hand the keys whose declarations lost their finalizers, where they are more than garbage collection
 * believes at once: leaders that each lived for less than two looks have ended none of them meanwhile. What else lives
 * without a declaration is left to the controller, and to the judgement.
 */
export async function revokeWherePaused({ model, world }: Stage, report: Report): Promise<void> {
  const { store, clusterUid } = world;
  const gone = model.former.map(({ uid }) => uid ?? "");
  const { rows } = await sql<{ id: string; uid: string; isGone: boolean }>`
    select id, owner_uid as uid, owner_uid = any(${gone}::text[]) as "isGone" from keys
    where cluster = ${clusterUid} and owner_uid is not null and state <> 'revoked'`.execute(store.db);
  const orphans = rows.filter(({ isGone }) => isGone);
  if (!exceedsDeletionLimit(orphans.length, rows.length)) return;
  const stripped = orphans.filter(({ uid }) => model.stripped.has(uid));
  for (const { id } of stripped) await change(store, null, (tx) => revokeKey(tx, id, "ByHand", { actor: "on call" }));
  report.log(`garbage collection has paused: ${stripped.length} of ${orphans.length} keys were revoked by hand`);
}
