import { sql } from "kysely";
import { expect, inject, test } from "vitest";
import { createDatabase } from "../../env/database/databases.ts";
import { KeptDatabases } from "../../env/database/kept-databases.ts";
import { askDesk } from "../../env/desk.ts";
import type { PostgresOfRun } from "../../env/global-setup.ts";

test("what PostgreSQL counts of a kept database has nothing of its user before in it", async () => {
  const { url, template } = await askDesk<PostgresOfRun>(inject("postgresPort"));
  const kept = new KeptDatabases(() => createDatabase(url, template), { maxConnections: 2 });
  const before = await kept.open();
  // On both connections, more often than each tells of at once.
  await before.db.connection().execute((one) =>
    before.db.connection().execute(async (other) => {
      for (const db of [one, other, one, other]) await sql`select count(*) from keys`.execute(db);
    }),
  );
  await before.close();
  const { db, close } = await kept.open();
  await db.connection().execute(async (one) => {
    const scans = async () => {
      await sql`select pg_stat_force_next_flush()`.execute(one);
      return (await sql`select seq_scan from pg_stat_user_tables where relname = 'keys'`.execute(one)).rows;
    };
    const first = await scans();
    await sql`select pg_stat_force_next_flush()`.execute(db);
    expect(await scans()).toEqual(first);
  });
  await close();
});
