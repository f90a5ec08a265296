import { sql } from "kysely";
import type { OperationKind, RouteRecord, UpstreamRecord } from "../../domain/access/key-record.ts";
import type { SharedBudgets } from "../../domain/budget/budget.ts";
import type { DeclaredTeam } from "../../domain/team/declared-team.ts";
import type { Db, Tx } from "../database/change.ts";
import { preparedStatement } from "../database/prepared-statement.ts";
import { outwaitHolders } from "./held-teams.ts";
import { TEAM_SELECTION } from "./team-columns.ts";

/** Identity and origin of a team, a library or a gateway that is in service. */
export type StoredObject = {
  readonly id: string;
  readonly cluster: string;
  /** Namespace; empty for a team, and for an object that was made without a namespace. */
  readonly namespace: string;
  readonly name: string;
  readonly ownerUid: string;
  /** Id of its team; for a team, its own id. */
  readonly teamId: string;
  /** Name of the team. */
  readonly team: string;
  readonly createdAt: Date;
};

export type StoredTeam = StoredObject &
  DeclaredTeam & {
    readonly generation: number;
    /** Budgets that it shares with other teams, by a policy; null for none. */
    readonly sharedBudgets: readonly SharedBudgets[] | null;
    /** Webhooks in the order of their URLs; of a signing secret only whether there is one. */
    readonly webhooks: readonly {
      readonly url: string;
      readonly events: readonly string[];
      readonly hasSecret: boolean;
    }[];
    /** Digest of the signing secrets in their encrypted form: it changes with any of them, and reveals nothing. */
    readonly webhookSecrets: string;
  };

type StoredLibrary = StoredObject & {
  readonly displayName: string;
  readonly description: string;
  readonly deletionPolicy: "Retain" | "Delete";
};

/** An upstream without its credential. */
export type StoredUpstream = Omit<UpstreamRecord, "credential"> & {
  /** False for an upstream that is declared without a credential. */
  readonly takesCredential: boolean;
  readonly hasCredential: boolean;
};

export type StoredGateway = StoredObject & {
  readonly publicId: string;
  readonly routesOnly: boolean;
  readonly operations: readonly OperationKind[];
  readonly routes: readonly RouteRecord[];
  readonly upstreams: readonly StoredUpstream[];
  /** Digest of the credentials in their encrypted form: it changes with any of them, and reveals nothing of them. */
  readonly credentials: string;
};

/** State of an object: in service, or a library whose declaration is gone and whose atoms are kept. */
export type ObjectState = "active" | "retained";

export type ObjectFilter = {
  readonly id?: string | undefined;
  readonly cluster?: string | undefined;
  /** Uid of the declaration for which it is in service. */
  readonly ownerUid?: string | undefined;
  /** Teams whose objects are listed. */
  readonly teamIds?: readonly string[] | undefined;
  /** Id or name of a team. */
  readonly team?: string | undefined;
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
  /** States that are listed; only objects in service if left out. */
  readonly states?: readonly ObjectState[] | undefined;
  /** Last id of the previous page. */
  readonly afterId?: string | undefined;
  readonly limit: number;
};

const SOURCES = {
  team: {
    from: sql`(select id, cluster, '' as namespace, name, coalesce(owner_uid, '') as "ownerUid", id as "teamId",
      state, created_at as "createdAt", generation, shared_budgets as "sharedBudgets", ${TEAM_SELECTION},
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
      created_at as "createdAt", public_id as "publicId", routes_only as "routesOnly", operations, routes,
      coalesce((select json_agg(json_build_object('name', name, 'dialect', dialect, 'baseUrl', base_url,
        'takesCredential', takes_credential or credential is not null, 'hasCredential', credential is not null) order by position)
        from gateway_upstreams where gateway_id = gateways.id), '[]') as upstreams,
      (select encode(sha256(coalesce(string_agg(coalesce(credential, ''), ',' order by position), '')), 'hex')
        from gateway_upstreams where gateway_id = gateways.id) as credentials
      from gateways)`,
  },
} as const;

/** Stored form of an object of each kind. */
export type StoredOf = { team: StoredTeam; library: StoredLibrary; gateway: StoredGateway };
export type ObjectKind = keyof StoredOf;

/** Lists a page of the objects in service, or in the states that are asked for, in the order of their ids. */
export async function listObjects<K extends ObjectKind>(db: Db, kind: K, filter: ObjectFilter): Promise<StoredOf[K][]> {
  const { id, cluster, ownerUid, teamIds, team, namespace, name, states, afterId = "", limit } = filter;
  // What subjects have is behind all libraries in the order of the ids, and is not read through.
  const inState =
    states === undefined ? sql`o.state = 'active'` : sql`o.state = any(${[...states]}::text[]) and o.id < 'part_'`;
  // Only what is asked for, so that an index can answer, by the same plan for each object that is looked up.
  const which = sql.join(
    [
      sql`o.id > ${afterId}`,
      ...(id === undefined ? [] : [sql`o.id = ${id}`]),
      ...(cluster === undefined ? [] : [sql`o.cluster = ${cluster}`]),
      ...(ownerUid === undefined ? [] : [sql`o."ownerUid" = ${ownerUid}`]),
      ...(teamIds === undefined ? [] : [sql`o."teamId" = any(${teamIds}::text[])`]),
      ...(team === undefined ? [] : [sql`(t.id = ${team} or t.name = ${team})`]),
      ...(namespace === undefined ? [] : [sql`o.namespace = ${namespace}`]),
      ...(name === undefined ? [] : [sql`o.name = ${name}`]),
    ],
    sql` and `,
  );
  const { rows } = await sql<StoredOf[K]>`${limit === 1 ? preparedStatement : sql``}
    select o.*, t.name as team from ${SOURCES[kind].from} o join teams t on t.id = o."teamId"
    where ${inState} and ${which} order by o.id limit ${limit}`.execute(db);
  return rows;
}

const TABLES = { team: "teams", library: "libraries", gateway: "gateways" } as const;

/** Finds the gateway or library of this name, if it belongs to the team and is in service. */
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

/** Locks an object until the transaction ends, and reads it. */
export async function lockObject<K extends ObjectKind>(tx: Tx, kind: K, id: string): Promise<StoredOf[K] | undefined> {
  if (kind === "team") await outwaitHolders(tx, sql`id = ${id}`);
  await sql`select from ${sql.table(TABLES[kind])} where id = ${id} for update`.execute(tx);
  const [found] = await listObjects(tx, kind, { id, limit: 1 });
  return found;
}

/**
 * Finds an object that a new object's name would be mistaken for: an object of that name in the same team and
 * namespace, or in any namespace if either has none. Locks the name, so that two requests that make it at once wait for
 * each other.
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

/** Finds the team in service that has this name in any cluster. */
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

/** Locks a name until the transaction ends: other callers that want the same name wait. */
export async function lockName(tx: Tx, text: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${text}, 0))`.execute(tx);
}
