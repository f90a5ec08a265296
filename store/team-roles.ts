import { sql } from "kysely";
import type { Db } from "./database/change.ts";

/** By what a person or a machine is named among a team's members (spec §5, PlatformTeam). */
export type MemberNames = {
  readonly subject: string;
  readonly groups: readonly string[];
  /** A Kubernetes ServiceAccount, as `namespace/name`; null for anybody else. */
  readonly serviceAccount: string | null;
};

/** Every role that these names have, by the team's id. A role of a later build is passed on as it is. */
export async function rolesOf(db: Db, names: MemberNames): Promise<{ teamId: string; role: string }[]> {
  const { rows } = await sql<{ teamId: string; role: string }>`
    select m.team_id as "teamId", m.role from team_members m join teams t on t.id = m.team_id and t.state = 'active'
    where (m.kind = 'subject' and m.value = ${names.subject})
      or (m.kind = 'group' and m.value = any(${names.groups}::text[]))
      or (m.kind = 'serviceAccount' and m.value = ${names.serviceAccount}::text)`.execute(db);
  return rows;
}
