import { type RawBuilder, sql } from "kysely";
import type { DeclaredTeam } from "../../domain/team/declared-team.ts";
import type { Database } from "../database/schema.ts";

type Column = keyof Database["teams"];

/** Storage of each field of a team: the column of `teams` that holds it, or the expression that reads it. */
const STORED: Readonly<Record<keyof DeclaredTeam, Column | RawBuilder<unknown>>> = {
  displayName: "display_name",
  namespaces: sql`array(select namespace from team_namespaces where team_id = teams.id order by namespace)`,
  members: sql`coalesce((select json_agg(jsonb_strip_nulls(jsonb_build_object('role', role, 'kind', kind,
    'value', value, 'libraryRefs', library_refs)) order by kind, value, role)
    from team_members where team_id = teams.id), '[]')`,
  defaultLibrary: sql`case when default_library_name is not null then
    json_build_object('namespace', default_library_namespace, 'name', default_library_name) end`,
  leakAction: "leak_action",
  allowedCIDRs: "allowed_cidrs",
  limits: "limits",
};

/** Field names. Cast: TypeScript types the keys of an object as any string. */
export const TEAM_FIELDS = Object.keys(STORED) as readonly (keyof DeclaredTeam)[];

/** Returns a team's fields as columns of `teams`, as JSON values; namespaces and members have tables of their own. */
export function teamColumns(team: DeclaredTeam): { readonly [C in Column]?: unknown } {
  const held = TEAM_FIELDS.map((field) => [STORED[field], team[field]]).filter(
    ([column]) => typeof column === "string",
  );
  const { namespace = null, name = null } = team.defaultLibrary ?? {};
  return { ...Object.fromEntries(held), default_library_namespace: namespace, default_library_name: name };
}

function readField(field: keyof DeclaredTeam): RawBuilder<unknown> {
  const stored = STORED[field];
  return sql`${typeof stored === "string" ? sql.ref(stored) : stored} as ${sql.ref(field)}`;
}

/** Expressions that read a team's fields from `teams`, by their names. */
export const TEAM_SELECTION = sql.join(TEAM_FIELDS.map(readField));

/** Expressions that read a team's restrictions from `teams`, with the budgets that it shares by policies. */
export const RESTRICTIONS_IN_FORCE = sql`${readField("allowedCIDRs")},
  limits_in_force(limits, shared_budgets) as limits`;
