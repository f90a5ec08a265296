import { sql } from "kysely";
import type { TeamRecord } from "../../domain/access/membership.ts";
import type { Tx } from "../database/change.ts";
import { RESTRICTIONS_IN_FORCE } from "../objects/team-columns.ts";

/**
 * Reads teams in service in the form by which requests are decided. The limit in the query makes the planner look up
 * the libraries of a member one by one, so that the time does not grow with the number of libraries.
 *
 * @param teamIds null for all teams
 */
export async function readTeams(tx: Tx, teamIds: readonly string[] | null): Promise<TeamRecord[]> {
  if (teamIds?.length === 0) return [];
  const { rows } = await sql<TeamRecord>`
    select t.id as "teamId", t.name, t.cluster, l.id as "defaultLibraryId", ${RESTRICTIONS_IN_FORCE},
      (select coalesce(json_agg(json_build_object('role', m.role, 'name', m.kind || ' ' || m.value, 'libraryIds',
          case when m.library_refs is not null then (
            select coalesce(json_agg(named.id order by named.id), '[]') from jsonb_array_elements(m.library_refs) ref,
              lateral (select id from libraries where cluster = t.cluster and namespace = ref ->> 'namespace'
                and name = ref ->> 'name' and team_id = t.id and state = 'active' limit 1) named) end)
        order by m.kind, m.value, m.role), '[]') from team_members m where m.team_id = t.id) as members,
      (select coalesce(json_agg(json_build_object('name', 'subject ' || r.subject,
        'atMs', (extract(epoch from r.revoked_at) * 1000)::float8) order by r.subject), '[]')
        from revoked_subjects r where r.team_id = t.id) as revoked
    from teams t
    left join libraries l on l.cluster = t.cluster and l.namespace = t.default_library_namespace
      and l.name = t.default_library_name and l.team_id = t.id and l.state = 'active'
    where t.state = 'active' and (${teamIds}::text[] is null or t.id = any(${teamIds}::text[]))
    order by t.id`.execute(tx);
  return rows;
}
