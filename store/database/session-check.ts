import { sql } from "kysely";
import type { Db } from "./change.ts";
import type { Store } from "./store.ts";

/**
 * True if our connection stays with one session of the server. Behind a pooler in transaction mode it does not: while
 * another client's transaction holds the session that answered last, another session answers, without what was set or
 * listened to in the first.
 */
export async function keepsSession({ db }: Pick<Store, "db">): Promise<boolean> {
  return db.connection().execute(async (ours) => {
    const first = await sessionOf(ours);
    return db.transaction().execute(async (other) => {
      await sessionOf(other);
      return (await sessionOf(ours)) === first;
    });
  });
}

async function sessionOf(db: Db): Promise<number> {
  const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(db);
  return rows[0]?.pid ?? 0;
}
