/** What tests ask of a store, and the product does not. */
import { sql } from "kysely";
import type { TeamMember } from "../../domain/access/team-member.ts";
import type { AuditEvent } from "../../store/audit/audit.ts";
import type { Db } from "../../store/database/change.ts";
import type { Store } from "../../store/database/store.ts";
import { toMs } from "../../store/database/times.ts";
import { ownedBy } from "../../store/keys/rows/find-key.ts";
import { type LoadedKey, loadKeys } from "../../store/keys/rows/key-rows.ts";

export type StoredAuditEvent = Required<Omit<AuditEvent, "by">> & {
  readonly id: number;
  readonly at: number;
  readonly actor: string;
};

/** What happened to a key, oldest first. */
export async function auditOfKey(db: Db, keyId: string): Promise<StoredAuditEvent[]> {
  const rows = await db.selectFrom("audit_events").selectAll().where("key_id", "=", keyId).orderBy("id").execute();
  return rows.map((row) => ({
    id: row.id,
    at: toMs(row.at),
    kind: row.kind,
    keyId: row.key_id,
    teamId: row.team_id,
    actor: row.actor,
    detail: row.detail,
  }));
}

/** The seq of the last change that has committed. */
export async function feedHead(store: Store): Promise<number> {
  const { head } = await store.db.selectFrom("feed").select("head").executeTakeFirstOrThrow();
  return head;
}

/** Who belongs to a team. */
export async function membersOfTeam(db: Db, teamId: string): Promise<TeamMember[]> {
  const { rows } = await sql<TeamMember>`
    select role, kind, value from team_members where team_id = ${teamId} order by kind, value, role`.execute(db);
  return rows;
}

/** The key that a declaration owns. */
export async function findKeyByOwner(db: Db, cluster: string, ownerUid: string): Promise<LoadedKey | undefined> {
  const [key] = await loadKeys(db, ownedBy(cluster, ownerUid));
  return key;
}
