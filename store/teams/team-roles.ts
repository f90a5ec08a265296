import { sql } from "kysely";
import type { IssuedNames } from "../../domain/access/team-member.ts";
import type { Db } from "../database/change.ts";

/**
 * Reads every role that these names have, by the team's id. Leaves out teams that have revoked the subject since the
 * names were issued. A role of a later build is passed on as it is.
 */
export async function rolesOf(db: Db, names: IssuedNames): Promise<{ teamId: string; role: string }[]> {
  const { rows } = await sql<{ teamId: string; role: string }>`
    select m.team_id as "teamId", m.role from team_members m join teams t on t.id = m.team_id and t.state = 'active'
    where ((m.kind = 'subject' and m.value = ${names.subject})
        or (m.kind = 'group' and m.value = any(${names.groups}::text[]))
        or (m.kind = 'serviceAccount' and m.value = ${names.serviceAccount}::text))
      and not exists (select from revoked_subjects r where r.team_id = m.team_id and r.subject = ${names.subject}
        and r.revoked_at >= to_timestamp(${names.issuedAt}::float8 / 1000))`.execute(db);
  return rows;
}
