/** PlatformKeyPolicies of each cluster, as its controller writes them, and of a team, as all processes read them. */
import { sql } from "kysely";
import { API_CLUSTER } from "../../domain/api-cluster.ts";
import type { NamedRef } from "../../domain/key/declaration/declared-key.ts";
import { GONE_GATEWAY } from "../../domain/key/policies/judge-key.ts";
import type { RuleInForce } from "../../domain/key/policies/rules-in-force.ts";
import { policyForTeam, type TeamPolicies, unreadablePolicy } from "../../domain/key/policies/team-policies.ts";
import { selectsTeam } from "../../domain/key/policies/team-selector.ts";
import type { PlatformKeyPolicySpec } from "../../domain/kinds/generated/platform-key-policy.ts";
import { rfc3339Millis } from "../../domain/rfc3339.ts";
import type { Db, Tx } from "../database/change.ts";
import { DATABASE_NOW } from "../database/times.ts";
import { readPolicySpec } from "./policy-spec.ts";
import { changeSharedBudgets, shareBudgets } from "./shared-budgets.ts";

/** Policy as its controller has found it. Times are RFC 3339. */
export type FoundPolicy = {
  readonly cluster: string;
  readonly uid: string;
  readonly name: string;
  readonly spec: PlatformKeyPolicySpec;
  readonly teams: readonly { readonly name: string; readonly since: string }[];
  readonly rules: readonly RuleInForce[];
};

/** Stores a policy. */
export async function savePolicy(tx: Tx, { cluster, uid, name, spec, teams, rules }: FoundPolicy): Promise<void> {
  await changeSharedBudgets(tx);
  const madeTeams = await selectedMadeTeams(tx, { cluster, uid }, spec);
  await sql`insert into key_policies (cluster, uid, name, spec, teams, rules, made_teams, selector_since)
    values (${cluster}, ${uid}, ${name}, ${JSON.stringify(spec)}::jsonb, ${JSON.stringify(teams)}::jsonb,
      ${JSON.stringify(rules)}::jsonb, ${madeTeams}::jsonb, ${DATABASE_NOW})
    on conflict (cluster, uid) do update set name = excluded.name, spec = excluded.spec, teams = excluded.teams,
      rules = excluded.rules, made_teams = excluded.made_teams, selector_since = case
        when key_policies.spec->'teamSelector' = excluded.spec->'teamSelector' then key_policies.selector_since
        else excluded.selector_since end`.execute(tx);
  await shareBudgets(tx, { cluster });
}

/**
 * Returns since when a policy selects each team that no cluster declares, by id, as JSON. A team that it selected before
 * keeps its time: an edit of the selector begins no grace period anew.
 *
 * @param spec undefined if it cannot be read: the selection stays
 */
async function selectedMadeTeams(
  tx: Tx,
  { cluster, uid }: Pick<FoundPolicy, "cluster" | "uid">,
  spec: PlatformKeyPolicySpec | undefined,
): Promise<string> {
  const { rows } = await sql<Pick<PolicyRow, "name" | "spec" | "madeTeams" | "selectorSince">>`
    select name, spec, made_teams as "madeTeams", selector_since as "selectorSince" from key_policies
    where cluster = ${cluster} and uid = ${uid}`.execute(tx);
  const [before] = rows;
  const selector = before && readPolicySpec(before)?.teamSelector;
  const { rows: teams } = await sql<MadeTeam & { name: string; labels: Record<string, string>; now: Date }>`
    select id, name, labels, created_at as "madeAt", ${DATABASE_NOW} as now from teams where cluster = ${API_CLUSTER}`.execute(
    tx,
  );
  const selected = teams.flatMap((team): [string, string][] => {
    const wasSelected = selector ? selectsTeam(selector, team) : Object.hasOwn(before?.madeTeams ?? {}, team.id);
    if (!(spec === undefined ? wasSelected : selectsTeam(spec.teamSelector, team))) return [];
    return [
      [team.id, madeTeamSince(team, before && wasSelected ? before : { madeTeams: {}, selectorSince: team.now })],
    ];
  });
  return JSON.stringify(Object.fromEntries(selected));
}

/** True if a policy is stored exactly so, and nothing has to be written. */
export async function isPolicySaved(db: Db, { cluster, uid, name, spec, teams, rules }: FoundPolicy): Promise<boolean> {
  const { rows } = await sql`select from key_policies where cluster = ${cluster} and uid = ${uid} and name = ${name}
    and spec = ${JSON.stringify(spec)}::jsonb and teams = ${JSON.stringify(teams)}::jsonb
    and rules = ${JSON.stringify(rules)}::jsonb`.execute(db);
  return rows.length > 0;
}

/** Reads a policy as last stored; without its specification if there is none, or this version cannot read it. */
export async function findStoredPolicy(
  db: Db,
  { cluster, uid }: Pick<FoundPolicy, "cluster" | "uid">,
): Promise<{ readonly spec: PlatformKeyPolicySpec | undefined; readonly rules: readonly RuleInForce[] }> {
  const { rows } = await sql<Pick<PolicyRow, "name" | "spec" | "rules">>`
    select name, spec, rules from key_policies where cluster = ${cluster} and uid = ${uid}`.execute(db);
  const [row] = rows;
  return { spec: row && readPolicySpec(row), rules: row?.rules ?? [] };
}

/** Records that a cluster has policies that cannot be read: each may apply to any of its teams. */
export async function saveUnreadablePolicies(tx: Tx, cluster: string, uids: readonly string[]): Promise<void> {
  for (const uid of uids) {
    const madeTeams = await selectedMadeTeams(tx, { cluster, uid }, undefined);
    await sql`insert into key_policies (cluster, uid, name, spec, teams, rules, made_teams, selector_since)
      values (${cluster}, ${uid}, '', null, '[]', '[]', ${madeTeams}::jsonb, ${DATABASE_NOW})
      on conflict (cluster, uid) do update set spec = null, made_teams = excluded.made_teams
        where key_policies.spec is not null`.execute(tx);
  }
}

/** Deletes policies that are no longer declared. */
export async function removePolicies(tx: Tx, cluster: string, uids: readonly string[]): Promise<void> {
  await changeSharedBudgets(tx);
  await sql`delete from key_policies where cluster = ${cluster} and uid = any(${uids}::text[])`.execute(tx);
  await shareBudgets(tx, { cluster });
}

/**
 * Deletes all policies of a cluster. Its controller stores them again if it still leads.
 *
 * @returns their names; for policies that could not be read, the uid
 */
export async function forgetPolicies(tx: Tx, cluster: string): Promise<string[]> {
  await changeSharedBudgets(tx);
  const { rows } = await sql<{ name: string }>`
    delete from key_policies where cluster = ${cluster} returning coalesce(nullif(name, ''), uid) as name`.execute(tx);
  await shareBudgets(tx, { cluster });
  return rows.map(({ name }) => name).toSorted();
}

/**
 * Stores for each team the budgets that it shares by the present policies of a cluster. An earlier build that does not
 * know shared budgets may have saved the team or the policy.
 */
export async function renewSharedBudgets(tx: Tx, cluster: string): Promise<void> {
  await changeSharedBudgets(tx);
  await shareBudgets(tx, { cluster });
}

/** Lists the clusters that have stored policies. */
export async function clustersWithPolicies(db: Db): Promise<string[]> {
  const rows = await db.selectFrom("key_policies").select("cluster").distinct().orderBy("cluster").execute();
  return rows.map(({ cluster }) => cluster);
}

/** Lists the policies that are stored for a cluster, each with whether it could be read. */
export async function policiesOfCluster(
  db: Db,
  cluster: string,
): Promise<{ readonly uid: string; readonly name: string; readonly isReadable: boolean }[]> {
  const { rows } = await sql<{ uid: string; name: string; isReadable: boolean }>`
    select uid, name, spec is not null as "isReadable" from key_policies where cluster = ${cluster}`.execute(db);
  return rows;
}

/** Returns a text that changes with any of the policies of all clusters; empty if there are none. */
export async function policiesMark(db: Db): Promise<string> {
  const { rows } = await sql<{ mark: string }>`
    select coalesce(md5(string_agg(p::text, ' ' order by cluster, uid)), '') as mark from key_policies p`.execute(db);
  return rows[0]?.mark ?? "";
}

type MadeTeam = { id: string; madeAt: Date };

type PolicyRow = MadeTeam & {
  cluster: string;
  uid: string;
  name: string;
  spec: unknown;
  teams: { name: string; since: string }[];
  rules: RuleInForce[];
  madeTeams: Record<string, string>;
  selectorSince: Date;
  team: string;
  teamCluster: string;
  labels: Record<string, string>;
};

/**
 * Reads the policies that apply to a team: those of its cluster that select it. A team that no cluster declares has
 * those of all clusters that select it. Each has a unique name, because the deadline of a rule is found by it. A policy
 * that this version cannot read may apply to any team.
 */
export async function policiesOfTeam(db: Db, teamId: string): Promise<TeamPolicies> {
  const { rows } = await sql<PolicyRow>`
    select p.cluster, p.uid, p.name, p.spec, p.teams, p.rules, p.made_teams as "madeTeams",
      p.selector_since as "selectorSince", t.id, t.name as team, t.cluster as "teamCluster", t.created_at as "madeAt", t.labels
    from teams t join key_policies p on p.cluster = t.cluster or t.cluster = ${API_CLUSTER}
    where t.id = ${teamId} order by p.cluster, p.name, p.uid`.execute(db);
  const read = rows.map((row) => ({ row, spec: readPolicySpec(row) }));
  return {
    policies: read.flatMap(({ row, spec }) =>
      spec !== undefined && selectsTeam(spec.teamSelector, { name: row.team, labels: row.labels })
        ? [policyForTeam(nameAmong(row, rows), spec, { rules: row.rules, selected: selectedSince(row) })]
        : [],
    ),
    unreadable: read.flatMap(({ row, spec }) => (spec === undefined ? [unreadablePolicy(row.uid)] : [])),
  };
}

/** Returns the policy's name, with its cluster if a policy of another cluster has the same name. */
function nameAmong({ name, cluster }: PolicyRow, rows: readonly PolicyRow[]): string {
  const isShared = rows.some((other) => other.name === name && other.cluster !== cluster);
  return isShared ? `${name} (cluster ${cluster})` : name;
}

function selectedSince(row: PolicyRow): string | undefined {
  if (row.teamCluster !== API_CLUSTER) return row.teams.find(({ name }) => name === row.team)?.since;
  return madeTeamSince(row, row);
}

/** Returns since when a policy selects a team that no cluster declares: as noted, or since the later one came. */
function madeTeamSince(
  { id, madeAt }: MadeTeam,
  { madeTeams, selectorSince }: Pick<PolicyRow, "madeTeams" | "selectorSince">,
): string {
  return madeTeams[id] ?? rfc3339Millis(Math.max(madeAt.getTime(), selectorSince.getTime()));
}

/**
 * Returns the ModelGateway that a key is bound to, in the form in which policies name it. A gateway that no cluster
 * declares has no namespace, so no policy allows it.
 *
 * @param gatewayId as `boundGatewayId` of {@link KeyPolicy}
 */
export async function gatewayOfPolicy(db: Db, gatewayId: string | null): Promise<NamedRef | null> {
  if (gatewayId === null) return null;
  const found = await db
    .selectFrom("gateways")
    .select(["cluster", "namespace", "name"])
    .where("id", "=", gatewayId)
    .executeTakeFirst();
  if (found === undefined) return GONE_GATEWAY;
  return { namespace: found.cluster === API_CLUSTER ? "" : found.namespace, name: found.name };
}
