import { sql } from "kysely";
import { expect, test } from "vitest";
import { DatabaseUnavailableError } from "../../../../store/database/errors.ts";
import { openPostgres } from "../../../../store/database/postgres/postgres.ts";
import { freshDatabase } from "../../../env/database/engines.ts";
import { startPgbouncer } from "../../../env/database/pgbouncer.ts";
import { until } from "../../../env/until.ts";

test("c92, c93: behind PgBouncer in session mode no session stays read-only that began so, and none keeps a transaction whose client is gone", async (context) => {
  const { url, drop } = await freshDatabase();
  const pooler = await startPgbouncer(url, "session");
  const [store, direct] = [await openPostgres(pooler.url, { maxConnections: 1 }), await openPostgres(url)];
  context.onTestFinished(async () => {
    await Promise.all([store.close(), direct.close()]);
    await pooler.stop();
    await drop();
  });
  const setting = async (name: string) => {
    const { rows } = await sql<{ value: string }>`select current_setting(${name}) as value`.execute(store.db);
    return rows[0]?.value;
  };
  const database = sql.id(new URL(url).pathname.slice(1));
  await sql`create table written (id integer)`.execute(direct.db);
  await sql`alter database ${database} set default_transaction_read_only = on`.execute(direct.db);
  await sql`select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid()`.execute(direct.db);
  for (const _ of [1, 2, 3]) await expect(setting("port")).rejects.toThrow(DatabaseUnavailableError);
  await sql`alter database ${database} reset default_transaction_read_only`.execute(direct.db);
  await until("writes are taken", () => sql`insert into written values (1)`.execute(store.db));
  expect(await setting("idle_in_transaction_session_timeout")).toBe("5s");
  expect(await setting("tcp_user_timeout")).toBe("25000");
  // What the pooler keeps of a session that a read-only answer ended.
  await sql`set default_transaction_read_only = on`.execute(store.db);
  await expect(sql`insert into written values (2)`.execute(store.db)).rejects.toThrow(DatabaseUnavailableError);
  await sql`insert into written values (3)`.execute(store.db);
});
