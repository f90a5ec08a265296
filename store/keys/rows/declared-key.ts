import { sql } from "kysely";
import type { ReportedCondition } from "../../../domain/conditions.ts";
import type { NamedRef } from "../../../domain/key/declaration/declared-key.ts";
import type { PlatformKeyPolicySpec } from "../../../domain/kinds/generated/platform-key-policy.ts";
import type { Db } from "../../database/change.ts";
import { preparedStatement } from "../../database/prepared-statement.ts";
import { readPolicySpec } from "../../policies/policy-spec.ts";
import { ownedBy } from "./find-key.ts";
import { KEY_ROW_COLUMNS, keyRows, type LoadedKey, type Row, toKeys } from "./key-rows.ts";

/** Stored state of a declaration: its key, and the objects that it refers to. */
export type DeclaredRows = {
  /** Database clock at the time of this read, in milliseconds since the epoch. Decisions on the key go by it. */
  readonly now: number;
  readonly stored: LoadedKey | undefined;
  /** Recorded conditions of the declaration's status; null if none are recorded. */
  readonly conditions: readonly ReportedCondition[] | null;
  /** Team that holds the namespace, with the labels of its declaration as they were applied. */
  readonly team:
    | { readonly id: string; readonly name: string; readonly labels: Readonly<Record<string, string>> }
    | undefined;
  /** Policies of the cluster that are not among those that were named as seen. */
  readonly unseenPolicies: readonly UnseenPolicy[];
  /** Gateway that is asked for, if it is in service and belongs to `team`, or without one, to the key's team. */
  readonly gateway: { readonly id: string; readonly publicId: string } | undefined;
  /** Ids of the libraries that are asked for, in the same order; undefined if the team has no library of that name. */
  readonly libraryIds: readonly (string | undefined)[];
};

/** Stored policy; without a specification if this version cannot read it. */
export type UnseenPolicy = {
  readonly uid: string;
  readonly name: string;
  readonly spec: PlatformKeyPolicySpec | undefined;
};

/** True if a declaration governs a living key of this team and name. */
export async function hasDeclaredKey(
  db: Db,
  { teamId, namespace, name }: { readonly teamId: string; readonly namespace: string; readonly name: string },
): Promise<boolean> {
  const found = await db
    .selectFrom("keys")
    .select("id")
    .where("team_id", "=", teamId)
    .where("namespace", "=", namespace)
    .where("name", "=", name)
    .where("owner_uid", "is not", null)
    .where("state", "<>", "revoked")
    .executeTakeFirst();
  return found !== undefined;
}

type FoundRefs = Omit<DeclaredRows, "now" | "stored" | "libraryIds" | "unseenPolicies"> & {
  readonly policies: readonly { readonly uid: string; readonly name: string; readonly spec: unknown }[] | null;
  readonly libraries: readonly (string | null)[];
};

/** Reads the stored state of one declaration in one statement, so that it is consistent. */
export async function findDeclaredKey(
  db: Db,
  asked: {
    readonly cluster: string;
    readonly ownerUid: string;
    readonly namespace: string;
    readonly gateway: NamedRef | null;
    readonly libraries: readonly NamedRef[];
    /** Uids of the policies that the cluster shows. */
    readonly seenPolicies: readonly string[];
  },
): Promise<DeclaredRows> {
  const { cluster, ownerUid, namespace, gateway, libraries, seenPolicies } = asked;
  const { rows } = await sql<{ now: number; refs: FoundRefs } & Row>`${preparedStatement}
    with ${keyRows(ownedBy(cluster, ownerUid))}, team as (
      select t.id, t.name, t.labels from team_namespaces n join teams t on t.id = n.team_id
      where n.cluster = ${cluster} and n.namespace = ${namespace} and t.state = 'active'
    ), within as (
      select coalesce((select id from team), (select team_id from picked)) as team_id
    ), refs as materialized (
      select json_build_object(
        'team', (select json_build_object('id', id, 'name', name, 'labels', labels) from team),
        'policies', (
          select json_agg(json_build_object('uid', uid, 'name', name, 'spec', spec) order by name, uid) from key_policies
          where cluster = ${cluster} and uid <> all(${seenPolicies}::text[])),
        'gateway', (
          select json_build_object('id', g.id, 'publicId', g.public_id) from gateways g join within using (team_id)
          where g.cluster = ${cluster} and g.namespace = ${gateway?.namespace ?? null}::text
            and g.name = ${gateway?.name ?? null}::text and g.state = 'active'),
        'conditions', (select d.conditions from key_declarations d join picked k on k.id = d.key_id),
        'libraries', array(
          select l.id from unnest(${libraries.map(({ namespace }) => namespace)}::text[],
            ${libraries.map(({ name }) => name)}::text[]) with ordinality as wanted (namespace, name, place)
          left join within on true
          left join libraries l on l.cluster = ${cluster} and l.namespace = wanted.namespace and l.name = wanted.name
            and l.team_id = within.team_id and l.state = 'active'
          order by place)) as refs
    )
    select floor(extract(epoch from clock_timestamp()) * 1000)::float8 as now, refs.refs, ${KEY_ROW_COLUMNS} from refs left join key_rows on true order by key_rows.number desc`.execute(
    db,
  );
  const [first] = rows;
  if (first === undefined) throw new Error("the database returned no row where there is always one");
  const [stored] = first.id === null ? [] : toKeys(rows);
  const { team, policies, gateway: found, conditions, libraries: ids } = first.refs;
  return {
    now: first.now,
    stored,
    conditions,
    team: team ?? undefined,
    unseenPolicies: (policies ?? []).map((policy) => ({ ...policy, spec: readPolicySpec(policy) })),
    gateway: found ?? undefined,
    libraryIds: ids.map((id) => id ?? undefined),
  };
}
