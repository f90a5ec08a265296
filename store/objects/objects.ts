import { sql } from "kysely";
import type { RouteRecord, UpstreamRecord } from "../../domain/access/key-record.ts";
import type { DeclaredLimits } from "../../domain/access/rate-limit.ts";
import type { TeamMember } from "../../domain/access/team-member.ts";
import type { SharedBudgets } from "../../domain/budget/budget.ts";
import type { LeakAction } from "../../domain/key/stored/leak.ts";
import type { Db, Tx } from "../database/change.ts";

/** What identifies a team, a library or a gateway that is in service, and where it comes from. */
export type StoredObject = {
  readonly id: string;
  readonly cluster: string;
  /** Empty for a team, and for what was made without one. */
  readonly namespace: string;
  readonly name: string;
  readonly ownerUid: string;
  /** Of a team its own id. */
  readonly teamId: string;
  /** The team's name. */
  readonly team: string;
  readonly createdAt: Date;
};

export type StoredTeam = StoredObject & {
  readonly displayName: string;
  readonly generation: number;
  readonly namespaces: readonly string[];
  readonly members: readonly TeamMember[];
  readonly defaultLibrary: { readonly namespace: string; readonly name: string } | null;
  readonly leakAction: LeakAction;
  readonly allowedCIDRs: readonly string[] | null;
  readonly limits: DeclaredLimits | null;
  /** What it shares with other teams, by a policy; null for nothing. */
  readonly sharedBudgets: readonly SharedBudgets[] | null;
  /** In the order of their URLs; of a signing secret only whether there is one. */
  readonly webhooks: readonly {
    readonly url: string;
    readonly events: readonly string[];
    readonly hasSecret: boolean;
  }[];
  /** Changes with any of the signing secrets, and reveals nothing of them: a digest of what they are sealed as. */
  readonly webhookSecrets: string;
};

type StoredLibrary = StoredObject & {
  readonly displayName: string;
  readonly description: string;
  readonly deletionPolicy: "Retain" | "Delete";
};

export type StoredGateway = StoredObject & {
  readonly publicId: string;
  readonly routesOnly: boolean;
  readonly routes: readonly RouteRecord[];
  /** In the order of their precedence; of a credential only whether there is one. */
  readonly upstreams: readonly (Omit<UpstreamRecord, "credential"> & { readonly hasCredential: boolean })[];
  /** Changes with any of the credentials, and reveals nothing of them: a digest of what they are sealed as. */
  readonly credentials: string;
};

/** In service, or a library whose declaration is gone and whose atoms are kept. */
export type ObjectState = "active" | "retained";

export type ObjectFilter = {
  readonly id?: string | undefined;
  readonly cluster?: string | undefined;
  /** Of the declaration that it is in service for. */
  readonly ownerUid?: string | undefined;
  /** Those of any of these teams. */
  readonly teamIds?: readonly string[] | undefined;
  /** A team's id or name. */
  readonly team?: string | undefined;
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
  /** What its declaration has left of it; in service where it is left out. */
  readonly states?: readonly ObjectState[] | undefined;
  /** The last id of the page before. */
  readonly afterId?: string | undefined;
  readonly limit: number;
};

const SOURCES = {
  team: {
    from: sql`(select id, cluster, '' as namespace, name, coalesce(owner_uid, '') as "ownerUid", id as "teamId",
      state, created_at as "createdAt", display_name as "displayName", generation,
      leak_action as "leakAction", allowed_cidrs as "allowedCIDRs", limits, shared_budgets as "sharedBudgets",
      array(select namespace from team_namespaces where team_id = teams.id order by namespace) as namespaces,
      coalesce((select json_agg(jsonb_strip_nulls(jsonb_build_object('role', role, 'kind', kind, 'value', value,
        'libraryRefs', library_refs)) order by kind, value, role)
        from team_members where team_id = teams.id), '[]') as members,
      case when default_library_name is not null then
        json_build_object('namespace', default_library_namespace, 'name', default_library_name) end as "defaultLibrary",
      coalesce((select json_agg(json_build_object('url', url, 'events', events, 'hasSecret', secret is not null)
        order by url) from team_webhooks where team_id = teams.id), '[]') as webhooks,
      (select encode(sha256(coalesce(string_agg(coalesce(secret, ''), ',' order by url), '')), 'hex')
        from team_webhooks where team_id = teams.id) as "webhookSecrets"
      from teams)`,
  },
  library: {
    from: sql`(select id, cluster, namespace, name, coalesce(owner_uid, '') as "ownerUid", team_id as "teamId", state,
      created_at as "createdAt", display_name as "displayName", description, deletion_policy as "deletionPolicy"
      from libraries)`,
  },
  gateway: {
    from: sql`(select id, cluster, namespace, name, coalesce(owner_uid, '') as "ownerUid", team_id as "teamId", state,
      created_at as "createdAt", public_id as "publicId", routes_only as "routesOnly", routes,
      coalesce((select json_agg(json_build_object('name', name, 'dialect', dialect, 'baseUrl', base_url,
        'hasCredential', credential is not null) order by position)
        from gateway_upstreams where gateway_id = gateways.id), '[]') as upstreams,
      (select encode(sha256(coalesce(string_agg(coalesce(credential, ''), ',' order by position), '')), 'hex')
        from gateway_upstreams where gateway_id = gateways.id) as credentials
      from gateways)`,
  },
} as const;

/** What is stored of each kind. */
export type StoredOf = { team: StoredTeam; library: StoredLibrary; gateway: StoredGateway };
export type ObjectKind = keyof StoredOf;

/** A page of what is in service, or in the states that are asked for, in the order of the ids. */
export async function listObjects<K extends ObjectKind>(db: Db, kind: K, filter: ObjectFilter): Promise<StoredOf[K][]> {
  const { id, cluster, ownerUid, teamIds, team, namespace, name, states, afterId = "", limit } = filter;
  // Only where it is asked for, so that an index can answer.
  const inCluster = cluster === undefined ? sql`` : sql`and o.cluster = ${cluster}`;
  // What subjects have is behind all libraries in the order of the ids, and is not read through.
  const inState =
    states === undefined ? sql`o.state = 'active'` : sql`o.state = any(${[...states]}::text[]) and o.id < 'part_'`;
  const ofOwner = ownerUid === undefined ? sql`` : sql`and o."ownerUid" = ${ownerUid}`;
  const { rows } = await sql<StoredOf[K]>`
    select o.*, t.name as team from ${SOURCES[kind].from} o join teams t on t.id = o."teamId"
    where ${inState} and o.id > ${afterId} ${inCluster} ${ofOwner}
      and (${id ?? null}::text is null or o.id = ${id ?? null})
      and (${teamIds ?? null}::text[] is null or o."teamId" = any(${teamIds ?? null}::text[]))
      and (${team ?? null}::text is null or t.id = ${team ?? null} or t.name = ${team ?? null})
      and (${namespace ?? null}::text is null or o.namespace = ${namespace ?? null})
      and (${name ?? null}::text is null or o.name = ${name ?? null})
    order by o.id limit ${limit}`.execute(db);
  return rows;
}

const TABLES = { team: "teams", library: "libraries", gateway: "gateways" } as const;

/** The gateway or library of this name, where the team has it and it is in service. */
export async function findActiveObject(
  db: Db,
  kind: Exclude<ObjectKind, "team">,
  { cluster, namespace, name, teamId }: Pick<StoredObject, "cluster" | "namespace" | "name" | "teamId">,
): Promise<{ id: string } | undefined> {
  return db
    .selectFrom(TABLES[kind])
    .select("id")
    .where("cluster", "=", cluster)
    .where("namespace", "=", namespace)
    .where("name", "=", name)
    .where("team_id", "=", teamId)
    .where("state", "=", "active")
    .executeTakeFirst();
}

/** One of them, locked until the transaction ends. */
export async function lockObject<K extends ObjectKind>(tx: Tx, kind: K, id: string): Promise<StoredOf[K] | undefined> {
  await sql`select from ${sql.table(TABLES[kind])} where id = ${id} for update`.execute(tx);
  const [found] = await listObjects(tx, kind, { id, limit: 1 });
  return found;
}

/**
 * What a new object's name would be mistaken for: one of its name in its team and namespace, or in any where either has
 * none. Two that are made at once wait for each other.
 */
export async function findNamesake(
  tx: Tx,
  kind: Exclude<ObjectKind, "team">,
  { teamId, namespace, name }: Pick<StoredObject, "teamId" | "namespace" | "name">,
): Promise<{ id: string } | undefined> {
  await lockName(tx, `${kind} ${teamId} ${name}`);
  const { rows } = await sql<{ id: string }>`
    select id from ${sql.table(TABLES[kind])} where team_id = ${teamId} and name = ${name} and state = 'active'
      and (${namespace}::text = '' or namespace in ('', ${namespace}))
    order by id limit 1`.execute(tx);
  return rows[0];
}

/** The team in service that has this name in any cluster. */
export async function findTeamNamesake(tx: Tx, name: string): Promise<{ id: string } | undefined> {
  await lockName(tx, `team ${name}`);
  return tx
    .selectFrom("teams")
    .select("id")
    .where("name", "=", name)
    .where("state", "=", "active")
    .orderBy("id")
    .executeTakeFirst();
}

/** Locks a name until the transaction ends: others that want the same name wait. */
export async function lockName(tx: Tx, text: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${text}, 0))`.execute(tx);
}
