import { sql } from "kysely";
import type { TeamMember } from "../../domain/access/team-member.ts";
import type { RefusedClaim } from "../../domain/object-conditions.ts";
import { type DeclaredTeam, storedLists } from "../../domain/team/declared-team.ts";
import type { Author } from "../audit/audit.ts";
import type { Db, Tx } from "../database/change.ts";
import { StaleDeclarationError } from "../database/errors.ts";
import { newId } from "../database/ids.ts";
import type { Keyring } from "../encryption/keyring.ts";
import { auditObject } from "../objects/audit-objects.ts";
import { outwaitHolders } from "../objects/held-teams.ts";
import { teamColumns } from "../objects/team-columns.ts";
import { keepSharedBudgets, shareBudgets } from "../policies/shared-budgets.ts";
import { removeWebhooks, saveWebhooks, type WebhookDraft } from "../webhooks/team-webhooks.ts";

export type TeamDraft = DeclaredTeam & {
  readonly cluster: string;
  readonly name: string;
  /** Labels of its declaration, by which policies may select it; none if left out. */
  readonly labels?: Readonly<Record<string, string>>;
  readonly ownerUid: string;
  /** Namespaces that it gets only if it holds them already: while no team holds them, another team is to get them. */
  readonly leftToOthers?: readonly string[];
  readonly webhooks: readonly WebhookDraft[];
  readonly generation: number;
  /** Author, for the audit log. */
  readonly by?: Author;
};

/**
 * Stores a team as declared. Its name within the cluster is its identity: made again after a deletion, it is the same
 * team. A namespace stays with the team that holds it; other claims are refused, and may be tried again later.
 *
 * @param keyring encrypts the webhooks' signing secrets
 * @throws StaleDeclarationError if a later generation of the same declaration has been applied
 */
export async function saveTeam(tx: Tx, draft: TeamDraft, keyring: Keyring = []): Promise<SavedTeam> {
  const { cluster, name, by, generation } = draft;
  const { teamId, held, refused } = await auditObject(tx, {
    kind: "team",
    where: { cluster, name },
    by,
    task: () => saveWholeTeam(tx, draft, keyring),
    detail: { generation },
    // That a secret changed, and never its value.
    moreThanFields: ({ changedSecrets }) => (changedSecrets.length > 0 ? { changedSecrets } : undefined),
  });
  return { teamId, held, refused };
}

export type SavedTeam = {
  readonly teamId: string;
  /** Namespaces that it holds now. */
  readonly held: readonly string[];
  /** Claims of the team to namespaces that other teams hold. */
  readonly refused: readonly RefusedClaim[];
};

/** Lists the active teams of a cluster besides those that are named, with what selects them and what they hold. */
export async function teamsBesides(
  db: Db,
  cluster: string,
  names: readonly string[],
): Promise<
  {
    readonly name: string;
    readonly labels: Readonly<Record<string, string>>;
    readonly namespaces: readonly string[];
  }[]
> {
  const { rows } = await sql<{ name: string; labels: Record<string, string>; namespaces: string[] }>`
    select t.name, t.labels, array(
      select n.namespace from team_namespaces n where n.team_id = t.id order by n.namespace) as namespaces
    from teams t where t.cluster = ${cluster} and t.state = 'active' and t.name <> all(${names}::text[])`.execute(db);
  return rows;
}

async function saveWholeTeam(
  tx: Tx,
  draft: TeamDraft,
  keyring: Keyring,
): Promise<SavedTeam & { readonly changedSecrets: readonly string[] }> {
  await keepSharedBudgets(tx);
  await outwaitHolders(tx, sql`cluster = ${draft.cluster} and name = ${draft.name}`);
  const teamId = await saveTeamRow(tx, draft);
  await shareBudgets(tx, { teamId });
  // Sorted, so that two teams that claim the same namespaces wait for each other in one order.
  const { members, namespaces } = storedLists(draft);
  await saveMembers(tx, teamId, members);

  const free = namespaces.filter((namespace) => !draft.leftToOthers?.includes(namespace));
  await sql`delete from team_namespaces where team_id = ${teamId} and namespace <> all(${namespaces}::text[])`.execute(
    tx,
  );
  await sql`insert into team_namespaces (cluster, namespace, team_id)
    select ${draft.cluster}, namespace, ${teamId} from unnest(${free}::text[]) as given (namespace)
    on conflict do nothing`.execute(tx);
  const { rows: claims } = await sql<RefusedClaim & { isOwn: boolean }>`
    select n.namespace, t.name as "heldBy", n.team_id = ${teamId} as "isOwn"
    from team_namespaces n join teams t on t.id = n.team_id
    where n.cluster = ${draft.cluster} and n.namespace = any(${namespaces}::text[]) order by n.namespace`.execute(tx);
  return {
    teamId,
    held: claims.filter(({ isOwn }) => isOwn).map(({ namespace }) => namespace),
    refused: claims.filter(({ isOwn }) => !isOwn).map(({ namespace, heldBy }) => ({ namespace, heldBy })),
    changedSecrets: await saveWebhooks(tx, teamId, draft.webhooks, keyring),
  };
}

async function saveTeamRow(tx: Tx, draft: TeamDraft): Promise<string> {
  const { cluster, name, ownerUid: owner_uid, labels = {}, generation } = draft;
  const declared = { owner_uid, state: "active", labels, generation, ...teamColumns(draft) };
  const row = { id: newId("team"), cluster, name, ...declared };
  const refs = (of: object, table = "") => sql.join(Object.keys(of).map((column) => sql.ref(`${table}${column}`)));
  await sql`insert into teams (${refs(row)})
    select ${refs(row)} from jsonb_populate_record(null::teams, ${JSON.stringify(row)}::jsonb)
    on conflict (cluster, name) do update set (${refs(declared)}) = (${refs(declared, "excluded.")})
    where (teams.owner_uid is distinct from excluded.owner_uid or teams.generation <= excluded.generation)
      and (${refs(declared, "teams.")}) is distinct from (${refs(declared, "excluded.")})`.execute(tx);
  const stored = await tx
    .selectFrom("teams")
    .select(["id", "owner_uid", "generation"])
    .where("cluster", "=", draft.cluster)
    .where("name", "=", draft.name)
    .executeTakeFirstOrThrow();
  if (stored.owner_uid === draft.ownerUid && stored.generation > draft.generation) {
    throw new StaleDeclarationError(`team ${draft.name}`, { generation, applied: stored.generation });
  }
  return stored.id;
}

async function saveMembers(tx: Tx, teamId: string, members: readonly TeamMember[]): Promise<void> {
  const wanted = sql`select role, kind, value, "libraryRefs" from jsonb_to_recordset(${JSON.stringify(members)}::jsonb)
    as given (role text, kind text, value text, "libraryRefs" jsonb)`;
  await sql`delete from team_members where team_id = ${teamId}
    and (role, kind, value) not in (select role, kind, value from (${wanted}) wanted)`.execute(tx);
  await sql`insert into team_members (team_id, role, kind, value, library_refs)
    select ${teamId}, role, kind, value, "libraryRefs" from (${wanted}) wanted
    on conflict (team_id, kind, value, role) do update set library_refs = excluded.library_refs
    where team_members.library_refs is distinct from excluded.library_refs`.execute(tx);
}

/**
 * Deletes a team: its namespaces are free, and its keys are suspended until it is made again. A team that a later
 * declaration has made again stays.
 */
export function deleteTeam(tx: Tx, deletion: TeamDeletion): Promise<void> {
  const { cluster, name, by } = deletion;
  const task = () => deleteWholeTeam(tx, deletion);
  return auditObject(tx, { kind: "team", where: { cluster, name }, by, task });
}

type TeamDeletion = Pick<TeamDraft, "cluster" | "name" | "ownerUid" | "by">;

async function deleteWholeTeam(tx: Tx, { cluster, name, ownerUid }: TeamDeletion): Promise<void> {
  await outwaitHolders(tx, sql`cluster = ${cluster} and name = ${name}`);
  const deleted = await tx
    .updateTable("teams")
    .set({ state: "deleted", owner_uid: null })
    .where("cluster", "=", cluster)
    .where("name", "=", name)
    .where("owner_uid", "=", ownerUid)
    .where("state", "<>", "deleted")
    .returning("id")
    .executeTakeFirst();
  if (deleted === undefined) return;
  await tx.deleteFrom("team_namespaces").where("team_id", "=", deleted.id).execute();
  await tx.deleteFrom("team_members").where("team_id", "=", deleted.id).execute();
  await removeWebhooks(tx, deleted.id, "the team was deleted");
}

/** Finds the team that holds a namespace. */
export async function findTeamOfNamespace(
  db: Db,
  cluster: string,
  namespace: string,
): Promise<{ id: string; name: string } | undefined> {
  return db
    .selectFrom("team_namespaces")
    .innerJoin("teams", "teams.id", "team_namespaces.team_id")
    .select(["teams.id", "teams.name"])
    .where("team_namespaces.cluster", "=", cluster)
    .where("team_namespaces.namespace", "=", namespace)
    .where("teams.state", "=", "active")
    .executeTakeFirst();
}

/** Reads the id of the team that holds each namespace of a cluster. */
export async function namespaceHolders(db: Db, cluster: string): Promise<Map<string, string>> {
  const rows = await db
    .selectFrom("team_namespaces")
    .select(["namespace", "team_id"])
    .where("cluster", "=", cluster)
    .execute();
  return new Map(rows.map(({ namespace, team_id }) => [namespace, team_id]));
}

/** Lists the namespaces of a cluster that are held by teams of other names. */
export async function namespacesOfOthers(db: Db, cluster: string, name: string): Promise<string[]> {
  const rows = await db
    .selectFrom("team_namespaces")
    .innerJoin("teams", "teams.id", "team_namespaces.team_id")
    .select("namespace")
    .where("team_namespaces.cluster", "=", cluster)
    .where("teams.name", "<>", name)
    .execute();
  return rows.map(({ namespace }) => namespace);
}

/** Finds the team of this name, if it has not been deleted. */
export async function findTeam(
  db: Db,
  cluster: string,
  name: string,
): Promise<{ id: string; namespaces: string[] } | undefined> {
  const { rows } = await sql<{ id: string; namespaces: string[] }>`
    select id, array(select namespace from team_namespaces where team_id = teams.id order by namespace) as namespaces
    from teams where cluster = ${cluster} and name = ${name} and state = 'active'`.execute(db);
  return rows[0];
}

/** Finds the teams that an id or a name means, including deleted teams: one of each cluster at most. */
export async function teamsNamed(db: Db, named: string): Promise<{ id: string; cluster: string; state: string }[]> {
  return db
    .selectFrom("teams")
    .select(["id", "cluster", "state"])
    .where((is) => is.or([is("id", "=", named), is("name", "=", named)]))
    .orderBy("id")
    .execute();
}

/** True if a team holds a namespace of a cluster. */
export async function holdsNamespace(db: Db, teamId: string, cluster: string, namespace: string): Promise<boolean> {
  const held = await db
    .selectFrom("team_namespaces")
    .select("team_id")
    .where("cluster", "=", cluster)
    .where("namespace", "=", namespace)
    .where("team_id", "=", teamId)
    .executeTakeFirst();
  return held !== undefined;
}

/** Lists the namespaces that a team holds, sorted by name. */
export async function namespacesOfTeam(db: Db, teamId: string): Promise<{ cluster: string; namespace: string }[]> {
  return db
    .selectFrom("team_namespaces")
    .select(["cluster", "namespace"])
    .where("team_id", "=", teamId)
    .orderBy("namespace")
    .execute();
}
