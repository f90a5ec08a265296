import { sql } from "kysely";
import type { ReportedCondition } from "../../domain/conditions.ts";
import type { Db } from "../database/change.ts";
import type { ObjectKind } from "./objects.ts";

/** Conditions by the ids of what they are of; without what none are recorded of. */
export type ConditionsById = ReadonlyMap<string, readonly ReportedCondition[]>;

const TABLES = { team: "teams", library: "libraries", gateway: "gateways" } as const;

/**
 * Records what a controller found of a declared team, library or gateway, where that has changed. It needs no fence:
 * nothing is decided by it.
 */
export async function recordConditions(
  db: Db,
  kind: ObjectKind,
  { cluster, ownerUid }: { readonly cluster: string; readonly ownerUid: string },
  conditions: readonly ReportedCondition[],
): Promise<void> {
  const found = toJson(conditions);
  await sql`update ${sql.table(TABLES[kind])} set conditions = ${found}::jsonb where cluster = ${cluster}
    and owner_uid = ${ownerUid} and state = 'active' and conditions is distinct from ${found}::jsonb`.execute(db);
}

/** The same of a declared key whose declaration is recorded. */
export async function recordKeyConditions(
  db: Db,
  keyId: string,
  conditions: readonly ReportedCondition[],
): Promise<void> {
  const found = toJson(conditions);
  await sql`update key_declarations set conditions = ${found}::jsonb
    where key_id = ${keyId} and conditions is distinct from ${found}::jsonb`.execute(db);
}

/** The conditions of what has these ids. */
export async function readConditions(
  db: Db,
  kind: ObjectKind | "key",
  ids: readonly string[],
): Promise<ConditionsById> {
  if (ids.length === 0) return new Map();
  const [table, id] = kind === "key" ? ["key_declarations", "key_id"] : [TABLES[kind], "id"];
  const { rows } = await sql<{ id: string; conditions: readonly ReportedCondition[] }>`
    select ${sql.ref(id)} as id, conditions from ${sql.table(table)}
    where ${sql.ref(id)} = any(${[...ids]}::text[]) and conditions is not null`.execute(db);
  return new Map(rows.map(({ id: of, conditions }) => [of, conditions]));
}

/** Without the generation, which changes with each edit. */
function toJson(conditions: readonly ReportedCondition[]): string {
  return JSON.stringify(
    conditions.map(({ type, status, reason, message, lastTransitionTime }) => {
      return { type, status, reason, message, lastTransitionTime };
    }),
  );
}
