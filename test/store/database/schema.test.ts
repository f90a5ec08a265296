import { readFile } from "node:fs/promises";
import { sql } from "kysely";
import { describe, expect, type TestContext, test } from "vitest";
import { SchemaVersionError } from "../../../store/database/errors.ts";
import {
  assertSchemaVersion,
  MIN_SCHEMA_VERSION,
  migrate,
  planMigration,
  SCHEMA_VERSION,
} from "../../../store/database/migrate/migrate.ts";
import { openPostgres } from "../../../store/database/postgres/postgres.ts";
import type { Store } from "../../../store/database/store.ts";
import { openEmbedded, openEmptyEmbedded } from "../../env/database/embedded-database.ts";
import { describeNightlyOnEachEngine, type Engine, freshDatabase } from "../../env/database/engines.ts";
import { dumpSchema } from "./schema-dump.ts";

const V17 = await readFile(new URL("schema-17.sql", import.meta.url), "utf8");

/** A database of the last version before the migrations were squashed, as their 17 scripts had made it. */
async function openVersion17(context: TestContext, engine: Engine): Promise<Store> {
  const store = await openEmpty(context, engine);
  await migrate(store, { migrations: [{ version: 17, name: "bootstrap-token", script: V17 }] });
  return store;
}

async function openEmpty(context: TestContext, engine: Engine): Promise<Store> {
  const { url, drop } = engine === "postgres" ? await freshDatabase() : { url: "", drop: async () => {} };
  const store = engine === "postgres" ? await openPostgres(url) : await openEmptyEmbedded();
  context.onTestFinished(async () => {
    await store.close();
    await drop();
  });
  return store;
}

describeNightlyOnEachEngine("c42: The schema of a database that is carried over", (fresh, engine) => {
  test("is the same as that of a new one, and what was in it is still there", async (context) => {
    const store = await openVersion17(context, engine);
    await sql`insert into teams (id, cluster, name, display_name, state, generation)
      values ('team_a', 'local', 'agents', 'Agents', 'active', 1)`.execute(store.db);
    expect(await migrate(store)).toMatchObject({ from: 17, to: SCHEMA_VERSION });
    await assertSchemaVersion(store);
    expect(await dumpSchema(store.db)).toBe(await dumpSchema(fresh().db));
    expect(await store.db.selectFrom("teams").select("name").execute()).toEqual([{ name: "agents" }]);
    expect(await store.db.selectFrom("feed").selectAll().execute()).toMatchObject([{ head: 1 }]);
  });

  test("c47: older than this build carries over is refused, saying to which version to bring it first, and nothing is changed", async (context) => {
    const store = await openVersion17(context, engine);
    await sql`update schema_migrations set version = ${MIN_SCHEMA_VERSION - 1}`.execute(store.db);
    const before = await dumpSchema(store.db);
    for (const attempt of [migrate, planMigration, assertSchemaVersion]) {
      const refused = await attempt(store).then(String, (error: unknown) => error);
      expect(refused).toBeInstanceOf(SchemaVersionError);
      expect(String(refused)).toContain(`bring it to version ${MIN_SCHEMA_VERSION} with a build of that version`);
    }
    expect(await dumpSchema(store.db)).toBe(before);
    expect(await store.db.selectFrom("schema_migrations").select("version").execute()).toEqual([
      { version: MIN_SCHEMA_VERSION - 1 },
    ]);
  });
});

describe("The dump of the schema", () => {
  test("is what a new embedded database has: with -u this test writes it", async (context) => {
    const store = await openEmbedded();
    context.onTestFinished(() => store.close());
    await expect(HEADER + (await dumpSchema(store.db))).toMatchFileSnapshot("../../../docs/reference/schema.sql");
  });
});

const HEADER = `-- The schema as the catalogue of a new embedded database has it, after all migrations in store/migrations/.
-- Written by \`vitest run test/store/database/schema.test.ts -u\`.

`;
