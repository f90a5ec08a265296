import { type RawBuilder, sql } from "kysely";
import type { Db } from "../database/change.ts";
import { identifyKeys } from "../keys/search/identified-keys.ts";
import type { UsageGroup } from "./usage-question.ts";

/** Maximum number of objects of one name that are taken together: one made again is counted as another object. */
const MAX_NAMESAKES = 1_000;

/** Kinds of object that usage may be asked for by name. */
export type UsageObject = "key" | "team" | "gateway";

/** Finds the ids of the objects, deleted ones too, that a text means, among those of these teams; undefined for all. */
export async function usageIdsNamed(
  db: Db,
  kind: UsageObject,
  text: string,
  teamIds: readonly string[] | undefined,
): Promise<string[]> {
  const table = sql.table(`${kind}s`);
  const team = kind === "team" ? sql`id` : sql`team_id`;
  const names: RawBuilder<unknown>[] = [
    sql`name = ${text}`,
    sql`id = ${text}`,
    ...(kind === "team" ? [] : [sql`namespace || '/' || name = ${text}`]),
    ...(kind === "gateway" ? [sql`public_id = ${text}`] : []),
  ];
  const { rows } = await sql<{ id: string }>`
    select id from ${table} where (${sql.join(names, sql` or `)})
      ${teamIds === undefined ? sql`` : sql`and ${team} = any(${teamIds}::text[])`}
    order by id desc limit ${MAX_NAMESAKES}`.execute(db);
  const ids = rows.map(({ id }) => id);
  return kind === "key" ? [...new Set([...(await identifyKeys(db, text, teamIds)), ...ids])] : ids;
}

/** Name of an object that usage was grouped by; for a team, `name` and `team` are the same. */
export type UsageName = {
  readonly namespace: string;
  readonly name: string;
  readonly teamId: string;
  readonly team: string;
};

/** Reads the names of the objects that usage was grouped by, by their ids. */
export async function usageNames(db: Db, by: UsageGroup, ids: readonly string[]): Promise<Map<string, UsageName>> {
  if (by === "model" || by === "label" || by === "all" || ids.length === 0) return new Map();
  const objects = {
    key: sql`select id, namespace, name, team_id from keys`,
    team: sql`select id, '' as namespace, name, id as team_id from teams`,
    gateway: sql`select id, namespace, name, team_id from gateways`,
  }[by === "route" ? "gateway" : by];
  const { rows } = await sql<UsageName & { id: string }>`
    select o.id, o.namespace, o.name, o.team_id as "teamId", t.name as team
    from (${objects}) o join teams t on t.id = o.team_id where o.id = any(${ids}::text[])`.execute(db);
  return new Map(rows.map(({ id, ...name }) => [id, name]));
}
