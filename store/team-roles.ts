import { sql } from "kysely";
import type { MemberNames } from "../domain/team-member.ts";
import type { Db } from "./database/change.ts";

/** Every role that these names have, by the team's id. A role of a later build is passed on as it is. */
export async function rolesOf(db: Db, names: MemberNames): Promise<{ teamId: string; role: string }[]> {
  const { rows } = await sql<{ teamId: string; role: string }>`
    select m.team_id as "teamId", m.role from team_members m join teams t on t.id = m.team_id and t.state = 'active'
    where (m.kind = 'subject' and m.value = ${names.subject})
      or (m.kind = 'group' and m.value = any(${names.groups}::text[]))
      or (m.kind = 'serviceAccount' and m.value = ${names.serviceAccount}::text)`.execute(db);
  return rows;
}
