import { sql } from "kysely";
import { MAX_TOKEN_AGE_MS } from "../../domain/access/member-access.ts";
import { type Author, appendAudit } from "../audit/audit.ts";
import type { Tx } from "../database/change.ts";

/** Maximum number of subjects kept of one team. To keep a person out for good, the team ends their membership. */
const MAX_OF_TEAM = 1_000;

type Revocation = { readonly teamId: string; readonly subject: string; readonly by: Author };

/**
 * Makes a team refuse the tokens of a subject that were issued up to now.
 *
 * @returns false if the team has as many such subjects as it may
 */
export async function revokeSubject(tx: Tx, { teamId, subject, by }: Revocation): Promise<boolean> {
  await sql`delete from revoked_subjects where team_id = ${teamId}
    and revoked_at < clock_timestamp() - ${MAX_TOKEN_AGE_MS}::float8 * interval '1 millisecond'`.execute(tx);
  await sql`insert into revoked_subjects (team_id, subject) values (${teamId}, ${subject})
    on conflict (team_id, subject) do update set revoked_at = clock_timestamp()`.execute(tx);
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from revoked_subjects where team_id = ${teamId}`.execute(tx);
  if ((rows[0]?.count ?? 0) > MAX_OF_TEAM) return false;
  await appendAudit(tx, [{ at: null, kind: "subject.revoked", teamId, by, detail: { subject } }]);
  return true;
}
