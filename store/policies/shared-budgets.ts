/** What teams share by the policies that select them, kept with each team: a request is decided by its team alone. */
import { sql } from "kysely";
import { API_CLUSTER } from "../../domain/api-cluster.ts";
import { declareBudgets, policyOwner, type SharedBudgets } from "../../domain/budget/budget.ts";
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
  readonly before: readonly SharedBudgets[] | null;
};
type PolicyRow = { readonly cluster: string; readonly name: string; readonly spec: unknown };
/** What a policy of a name asks; undefined for one that cannot be read. */
type ReadPolicy = {
  readonly cluster: string;
  readonly owner: string;
  readonly spec: PlatformKeyPolicySpec | undefined;
};

/**
 * Writes what teams share now: those of a cluster and those that no cluster declares, or one team. Of a policy that
 * cannot be read they share what they did.
 */
export async function shareBudgets(
  tx: Tx,
  of: { readonly cluster: string } | { readonly teamId: string },
): Promise<void> {
  const concerned = "cluster" in of ? sql`cluster in (${of.cluster}, ${API_CLUSTER})` : sql`id = ${of.teamId}`;
  // Of one that was deleted and made again both may be there for a while: the one written last holds.
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

/** What a team shared of policies that cannot be read: one whose name is not known may be any that is not there. */
function keptOf({ before }: TeamRow, policies: readonly ReadPolicy[]): SharedBudgets[] {
  const unread = policies.filter(({ spec }) => spec === undefined);
  const readable = new Set(policies.flatMap(({ owner, spec }) => (spec === undefined ? [] : owner)));
  return (before ?? []).filter(({ owner }) => {
    const mayBe = unread.some((one) => one.owner === owner || isNamelessOf(one, owner));
    return mayBe && !readable.has(owner);
  });
}

/** Whether a policy whose name is not known may be this owner. */
function isNamelessOf({ cluster, owner: unnamed }: ReadPolicy, owner: string): boolean {
  return unnamed === policyOwner(cluster, "") && owner.startsWith(unnamed);
}
