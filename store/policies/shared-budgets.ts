/** What teams share by the policies that select them, kept with each team: a request is decided by its team alone. */
import { sql } from "kysely";
import { API_CLUSTER } from "../../domain/api-cluster.ts";
import { declareBudgets, type SharedBudgets } from "../../domain/budget/budget.ts";
import { selectsTeam } from "../../domain/key/policies/team-selector.ts";
import type { PlatformKeyPolicySpec } from "../../domain/kinds/generated/platform-key-policy.ts";
import type { Tx } from "../database/change.ts";
import { readPolicySpec } from "./policy-spec.ts";

const LOCK = sql`hashtextextended('shared budgets', 0)`;

/**
 * Has what teams share stay as it is until the transaction ends, so that a team that is saved has what a policy says
 * that is saved meanwhile. Taken before anything of the team is written.
 */
export async function keepSharedBudgets(tx: Tx): Promise<void> {
  await sql`select pg_advisory_xact_lock_shared(${LOCK})`.execute(tx);
}

/** The same for what changes a policy: it waits for teams that are being saved. Taken before it is written. */
export async function changeSharedBudgets(tx: Tx): Promise<void> {
  await sql`select pg_advisory_xact_lock(${LOCK})`.execute(tx);
}

type TeamRow = {
  readonly id: string;
  readonly name: string;
  readonly cluster: string;
  readonly labels: Readonly<Record<string, string>>;
};
type PolicyRow = { readonly cluster: string; readonly name: string; readonly spec: unknown };

/**
 * Writes what teams share now: those of a cluster and those that no cluster declares, or one team. While a policy of
 * theirs cannot be read they share what they did.
 */
export async function shareBudgets(
  tx: Tx,
  of: { readonly cluster: string } | { readonly teamId: string },
): Promise<void> {
  const concerned = "cluster" in of ? sql`cluster in (${of.cluster}, ${API_CLUSTER})` : sql`id = ${of.teamId}`;
  const { rows: policies } = await sql<PolicyRow>`select cluster, name, spec from key_policies
    where spec is null or spec ? 'sharedBudgets' order by cluster, name`.execute(tx);
  const { rows: teams } = await sql<TeamRow>`select id, name, cluster, labels from teams where ${concerned}
    and (${policies.length > 0} or shared_budgets is not null)`.execute(tx);
  const read = policies.map(({ cluster, name, spec }) => ({ cluster, name, spec: readPolicySpec({ name, spec }) }));
  const known = teams.flatMap((team) => {
    const own = read.filter(({ cluster }) => cluster === team.cluster || team.cluster === API_CLUSTER);
    if (own.some(({ spec }) => spec === undefined)) return [];
    const shared = own.flatMap(({ cluster, name, spec }) =>
      spec === undefined ? [] : sharedOf(team, cluster, name, spec),
    );
    return [{ id: team.id, shared: shared.length === 0 ? null : JSON.stringify(shared) }];
  });
  await sql`update teams set shared_budgets = given.shared::jsonb
    from unnest(${known.map(({ id }) => id)}::text[], ${known.map(({ shared }) => shared)}::text[]) as given (id, shared)
    where teams.id = given.id and teams.shared_budgets is distinct from given.shared::jsonb`.execute(tx);
}

function sharedOf(team: TeamRow, cluster: string, name: string, spec: PlatformKeyPolicySpec): SharedBudgets[] {
  const items = declareBudgets(spec.sharedBudgets);
  return items === null || !selectsTeam(spec.teamSelector, team) ? [] : [{ owner: `${cluster}/${name}`, items }];
}
