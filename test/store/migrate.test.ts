import { sql } from "kysely";
import { describe, expect, test } from "vitest";
import { SchemaVersionError } from "../../store/errors.ts";
import { assertSchemaVersion, migrate, SCHEMA_VERSION } from "../../store/migrate.ts";
import { openPGlite, openPostgres } from "../../store/open.ts";
import { describeOnEachEngine, freshDatabase, postgresMissing } from "../env/engines.ts";

describeOnEachEngine("A schema", (store) => {
  const pretend = (version: number) =>
    sql`insert into schema_migrations (version, name) values (${version}, 'later')`.execute(store().db);

  test("of this build's version is accepted, and migrating it again changes nothing", async () => {
    await assertSchemaVersion(store());
    const before = await store().db.selectFrom("schema_migrations").selectAll().execute();
    await migrate(store());
    expect(await store().db.selectFrom("schema_migrations").selectAll().execute()).toEqual(before);
    expect(before).toHaveLength(SCHEMA_VERSION);
  });

  test("c42: one version newer is accepted, for a rolling upgrade; two are refused, saying what to do", async () => {
    await pretend(SCHEMA_VERSION + 1);
    await assertSchemaVersion(store());
    await pretend(SCHEMA_VERSION + 2);
    await expect(assertSchemaVersion(store())).rejects.toThrow(/upgrade/);
    await sql`delete from schema_migrations where version > ${SCHEMA_VERSION}`.execute(store().db);
  });

  test("older than needed is refused, saying what to run", async () => {
    await sql`delete from schema_migrations where version = ${SCHEMA_VERSION}`.execute(store().db);
    await expect(assertSchemaVersion(store())).rejects.toThrow(/run keyplane migrate/);
  });
});

describe("A database without a schema", () => {
  test("is refused, saying what to run", async () => {
    const store = await openPGlite("memory://");
    await expect(assertSchemaVersion(store)).rejects.toThrow(SchemaVersionError);
    await store.close();
  });
});

const reason = postgresMissing === undefined ? "" : ` (skipped: ${postgresMissing})`;
describe.skipIf(postgresMissing !== undefined)(`Migrations at once${reason}`, () => {
  test("by several processes are done once", async () => {
    const { url, drop } = await freshDatabase();
    const stores = await Promise.all([1, 2, 3, 4].map(() => openPostgres(url)));
    await Promise.all(stores.map((store) => migrate(store)));
    await Promise.all(stores.map((store) => assertSchemaVersion(store)));
    await Promise.all(stores.map((store) => store.close()));
    await drop();
  });

  test("that fail leave nothing behind", async () => {
    const { url, drop } = await freshDatabase();
    const store = await openPostgres(url);
    await sql`create view key_records as select 1 as in_the_way`.execute(store.db);
    await expect(migrate(store)).rejects.toThrow(/key_records/);
    const { rows } = await sql<{ left: number }>`
      select count(*)::int as left from pg_tables where schemaname = 'public'`.execute(store.db);
    expect(rows).toEqual([{ left: 0 }]);
    await store.close();
    await drop();
  });
});
