/** Budgets that teams share by policies, stored with each team, because a request is decided by its team alone. */
import { sql } from "kysely";
import { API_CLUSTER } from "../../domain/api-cluster.ts";
import { declareBudgets, policyOwner, type SharedBudgets } from "../../domain/budget/budget.ts";
import { selectsTeam } from "../../domain/key/policies/team-selector.ts";
import type { PlatformKeyPolicySpec } from "../../domain/kinds/generated/platform-key-policy.ts";
import type { Tx } from "../database/change.ts";
import { readPolicySpec } from "./policy-spec.ts";

const LOCK = sql`hashtextextended('shared budgets', 0)`;

/**
 * Keeps shared budgets unchanged until the transaction ends, so that a team that is being saved gets those of a policy
 * that is saved meanwhile. Call it before anything of the team is written.
 */
export async function keepSharedBudgets(tx: Tx): Promise<void> {
  await sql`select pg_advisory_xact_lock_shared(${LOCK})`.execute(tx);
}

/** Locks shared budgets for a policy's change, which waits for teams being saved. Call it before writing the policy. */
export async function changeSharedBudgets(tx: Tx): Promise<void> {
  await sql`select pg_advisory_xact_lock(${LOCK})`.execute(tx);
}

type TeamRow = {
  readonly id: string;
  readonly name: string;
  readonly cluster: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly before: readonly SharedBudgets[] | null;
};
type PolicyRow = { readonly cluster: string; readonly name: string; readonly spec: unknown };
/** Specification of a policy with a name; undefined if it cannot be read. */
type ReadPolicy = {
  readonly cluster: string;
  readonly owner: string;
  readonly spec: PlatformKeyPolicySpec | undefined;
};

/**
 * Stores the budgets that teams share now: for the teams of a cluster and those that no cluster declares, or for one
 * team. Budgets of a policy that cannot be read stay as they were.
 */
export async function shareBudgets(
  tx: Tx,
  of: { readonly cluster: string } | { readonly teamId: string },
): Promise<void> {
  const concerned = "cluster" in of ? sql`cluster in (${of.cluster}, ${API_CLUSTER})` : sql`id = ${of.teamId}`;
  // If a policy was deleted and made again, both may exist for a while: the policy that was written last counts.
  const { rows: policies } = await sql<PolicyRow>`select distinct on (cluster, name) cluster, name, spec
    from key_policies where spec is null or spec ? 'sharedBudgets'
    order by cluster, name, age(xmin)`.execute(tx);
  const { rows: teams } = await sql<TeamRow>`select id, name, cluster, labels, shared_budgets as before from teams
    where ${concerned} and (${policies.length > 0} or shared_budgets is not null)`.execute(tx);
  if (teams.length === 0) return;
  const read = policies.map(({ cluster, name, spec }) => {
    return { cluster, owner: policyOwner(cluster, name), spec: readPolicySpec({ name, spec }) };
  });
  const known = teams.map((team) => {
    const own = read.filter(({ cluster }) => cluster === team.cluster || team.cluster === API_CLUSTER);
    const shared = [...own.flatMap((policy) => sharedOf(team, policy)), ...keptOf(team, own)];
    const inOrder = shared.toSorted((one, other) => (one.owner < other.owner ? -1 : 1));
    return { id: team.id, shared: inOrder.length === 0 ? null : JSON.stringify(inOrder) };
  });
  await sql`update teams set shared_budgets = given.shared::jsonb
    from unnest(${known.map(({ id }) => id)}::text[], ${known.map(({ shared }) => shared)}::text[]) as given (id, shared)
    where teams.id = given.id and teams.shared_budgets is distinct from given.shared::jsonb`.execute(tx);
}

function sharedOf(team: TeamRow, { owner, spec }: ReadPolicy): SharedBudgets[] {
  const items = declareBudgets(spec?.sharedBudgets);
  return spec === undefined || items === null || !selectsTeam(spec.teamSelector, team) ? [] : [{ owner, items }];
}

/**
 * Returns a team's shared budgets of policies that cannot be read. A policy without a known name may be any that is
 * missing.
 */
function keptOf({ before }: TeamRow, policies: readonly ReadPolicy[]): SharedBudgets[] {
  const unread = policies.filter(({ spec }) => spec === undefined);
  const readable = new Set(policies.flatMap(({ owner, spec }) => (spec === undefined ? [] : owner)));
  return (before ?? []).filter(({ owner }) => {
    const mayBe = unread.some((one) => one.owner === owner || isNamelessOf(one, owner));
    return mayBe && !readable.has(owner);
  });
}

/** True if a policy whose name is unknown may be this owner. */
function isNamelessOf({ cluster, owner: unnamed }: ReadPolicy, owner: string): boolean {
  return unnamed === policyOwner(cluster, "") && owner.startsWith(unnamed);
}
