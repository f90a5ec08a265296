import { sql } from "kysely";
import { expect, test } from "vitest";
import { migrate } from "../../../../store/database/migrate/migrate.ts";
import { hasVectorTable, makeVectorTables } from "../../../../store/database/migrate/vector-table.ts";
import { openPostgres } from "../../../../store/database/postgres/postgres.ts";
import { freshDatabase, postgresHasVectors } from "../../../env/database/engines.ts";

if (postgresHasVectors) withVectors();
else withoutVectors();

function withoutVectors(): void {
  test("A PostgreSQL without the extension is migrated all the same, and one line says what to run for it", async (context) => {
    const { url, drop } = await freshDatabase();
    const store = await openPostgres(url);
    context.onTestFinished(async () => {
      await store.close();
      await drop();
    });
    const lines: string[] = [];
    await migrate(store, { onProgress: (line) => lines.push(line) });
    const database = new URL(url).pathname.slice(1);
    const line = `semantic search stays off: the database server has no extension vector: install pgvector 0.7 or later there, have an administrator run CREATE EXTENSION vector; in the database ${database}, and run keyplane migrate again`;
    expect(lines.at(-1)).toBe(line);
    expect(await hasVectorTable(store.db)).toBe(false);
    expect(await makeVectorTables(store.db)).toBe(line);
  });
}

function withVectors(): void {
  test("A user who may not make the extension is shown the statement, and begins as soon as it has been run", async (context) => {
    const { url, drop } = await freshDatabase();
    const admin = await openPostgres(url);
    const role = `limited_${new URL(url).pathname.slice(1)}`;
    const own = new URL(url);
    [own.username, own.password] = [role, "limited"];
    const store = await openPostgres(own.href);
    context.onTestFinished(async () => {
      await store.close();
      await sql`drop owned by ${sql.id(role)}`.execute(admin.db);
      await sql`drop role ${sql.id(role)}`.execute(admin.db);
      await admin.close();
      await drop();
    });
    await sql`create role ${sql.id(role)} login password 'limited'`.execute(admin.db);
    await sql`grant usage, create on schema public to ${sql.id(role)}`.execute(admin.db);
    await migrate(store);
    expect(await makeVectorTables(store.db)).toContain(
      "this user may not make the extension vector: have an administrator",
    );
    await sql`create extension vector`.execute(admin.db);
    await migrate(store);
    expect(await hasVectorTable(store.db)).toBe(true);
  });
}
