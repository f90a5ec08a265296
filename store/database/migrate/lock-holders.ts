import { sql } from "kysely";
import { nameSome } from "../../../domain/name-some.ts";
import { rfc3339 } from "../../../domain/rfc3339.ts";
import type { Db } from "../change.ts";

/** Session that holds a lock another session waits for. Its statement is not reported: it may hold a secret. */
export type LockHolder = {
  readonly pid: number;
  readonly applicationName: string | null;
  /** State, such as `active` or `idle in transaction`; null if the database does not show it to this user. */
  readonly state: string | null;
  /** Time at which its latest statement began. */
  readonly queryStart: Date | null;
};

/** Lists the sessions that hold, or wait before us for, a lock that a session waits for; empty if it does not wait. */
export async function blockersOf(db: Db, pid: number): Promise<LockHolder[]> {
  const { rows } = await sql<LockHolder>`
    select blocker as pid, application_name as "applicationName", state, query_start as "queryStart"
    from unnest(pg_blocking_pids(${pid}::integer)) blocker left join pg_stat_activity on pid = blocker
    order by query_start nulls last`.execute(db);
  return rows;
}

/** Lists the sessions that hold an advisory lock of a number in the database that is asked. */
export async function advisoryHolders(db: Db, lock: number): Promise<LockHolder[]> {
  const { rows } = await sql<LockHolder>`
    select pid, application_name as "applicationName", state, query_start as "queryStart"
    from pg_locks join pg_stat_activity using (pid)
    where locktype = 'advisory' and granted and classid = 0 and objid = ${lock}::bigint::oid and objsubid = 1
      and database = (select oid from pg_database where datname = current_database())`.execute(db);
  return rows;
}

const MAX_NAMED = 5;

/** Describes sessions for a person: `pid 4711 ("pg_dump", active, its query began 2026-11-14T12:00:00.000Z)`. */
export function describeHolders(holders: readonly LockHolder[]): string {
  if (holders.length === 0) return "a session that had ended when it was asked for";
  const titles = holders.map(({ pid, applicationName, state, queryStart }) => {
    const began = queryStart === null ? null : `its query began ${rfc3339(queryStart.getTime())}`;
    const facts = [JSON.stringify(applicationName ?? ""), state, began].filter((fact) => fact !== null);
    return `pid ${pid} (${facts.join(", ")})`;
  });
  return nameSome(titles, MAX_NAMED);
}
