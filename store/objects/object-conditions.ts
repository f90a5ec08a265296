import { sql } from "kysely";
import type { ReportedCondition } from "../../domain/conditions.ts";
import type { Db } from "../database/change.ts";
import type { ObjectKind } from "./objects.ts";

/** Conditions by the ids of their objects, without objects that have none recorded. */
export type ConditionsById = ReadonlyMap<string, readonly ReportedCondition[]>;

const TABLES = { team: "teams", library: "libraries", gateway: "gateways" } as const;

/** Object as it is declared; a team has no namespace. */
type Declared = Readonly<Record<"cluster" | "namespace" | "name" | "ownerUid", string>>;

/**
 * Records the conditions that a controller found of a declared team, library or gateway, if they have changed. It needs
 * no fence: nothing is decided by them.
 */
export async function recordConditions(
  db: Db,
  kind: ObjectKind,
  { cluster, namespace, name, ownerUid }: Declared,
  conditions: readonly ReportedCondition[],
): Promise<void> {
  const found = JSON.stringify(asRecorded(conditions));
  // By its name an index finds it; all of a cluster's would be read for its owner.
  const inNamespace = kind === "team" ? sql`` : sql`and namespace = ${namespace}`;
  await sql`update ${sql.table(TABLES[kind])} set conditions = ${found}::jsonb
    where cluster = ${cluster} ${inNamespace} and name = ${name} and owner_uid = ${ownerUid} and state = 'active'
      and conditions is distinct from ${found}::jsonb`.execute(db);
}

/** Records the conditions of a declared key whose declaration is recorded, if they have changed. */
export async function recordKeyConditions(
  db: Db,
  keyId: string,
  conditions: readonly ReportedCondition[],
): Promise<void> {
  const found = JSON.stringify(asRecorded(conditions));
  await sql`update key_declarations set conditions = ${found}::jsonb
    where key_id = ${keyId} and conditions is distinct from ${found}::jsonb`.execute(db);
}

/**
 * SQL condition that a key's declaration is gone, whether the key ended with it or works on. The conditions of the
 * declaration then say nothing of the key.
 */
const UNDECLARED = sql`(k.owner_uid is null or k.revocation_reason in ('Deleted', 'Moved', 'Orphaned'))`;

/** Reads the conditions of the objects with these ids, but none of a key whose declaration is gone. */
export async function readConditions(
  db: Db,
  kind: ObjectKind | "key",
  ids: readonly string[],
): Promise<ConditionsById> {
  if (ids.length === 0) return new Map();
  const from =
    kind === "key"
      ? sql`(select k.id, d.conditions from keys k join key_declarations d on d.key_id = k.id where ${UNDECLARED} is not true)`
      : sql.table(TABLES[kind]);
  const { rows } = await sql<{ id: string; conditions: readonly ReportedCondition[] }>`
    select id, conditions from ${from} found
    where id = any(${[...ids]}::text[]) and conditions is not null`.execute(db);
  return new Map(rows.map(({ id, conditions }) => [id, conditions]));
}

/**
 * Returns conditions as they are recorded: without the generation, which changes with each edit, and without characters
 * that no database stores.
 */
export function asRecorded(conditions: readonly ReportedCondition[]): ReportedCondition[] {
  return conditions.map(({ type, status, reason, message, lastTransitionTime }) => {
    const storable = message.toWellFormed().replaceAll("\0", "\ufffd");
    return { type, status, reason, message: storable, lastTransitionTime };
  });
}
