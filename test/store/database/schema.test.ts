import { randomBytes } from "node:crypto";
import { sql } from "kysely";
import { describe, expect, type TestContext, test } from "vitest";
import { SchemaVersionError } from "../../../store/database/errors.ts";
import {
  assertSchemaVersion,
  MIN_SCHEMA_VERSION,
  migrate,
  planMigration,
  SCHEMA_VERSION,
  schemaVersion,
} from "../../../store/database/migrate/migrate.ts";
import { wayFrom } from "../../../store/database/migrate/releases.ts";
import { openPostgres } from "../../../store/database/postgres/postgres.ts";
import type { Store } from "../../../store/database/store.ts";
import { findSession } from "../../../store/sessions/sessions.ts";
import { openEmbedded, openEmptyEmbedded } from "../../env/database/embedded-database.ts";
import { describeNightlyOnEachEngine, type Engine, freshDatabase } from "../../env/database/engines.ts";
import { migrateAsPrevious } from "../../env/database/previous-version.ts";
import { addTeamsWithLibraries } from "../../memory/libraries.ts";
import { dumpSchema } from "./schema-dump.ts";

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
    const store = await openEmpty(context, engine);
    await migrateAsPrevious(store);
    const from = await schemaVersion(store.db);
    await sql`insert into teams (id, cluster, name, display_name, state, generation)
      values ('team_a', 'local', 'agents', 'Agents', 'active', 1)`.execute(store.db);
    const session = randomBytes(32);
    await sql`insert into sessions (digest, groups, display_name, expires_at)
      values (${session}, '{}', 'Ann', now() + interval '1 hour')`.execute(store.db);
    expect(await migrate(store)).toMatchObject({ from, to: SCHEMA_VERSION });
    await assertSchemaVersion(store);
    expect(await dumpSchema(store.db)).toBe(await dumpSchema(fresh().db));
    expect(await store.db.selectFrom("teams").select("name").execute()).toEqual([{ name: "agents" }]);
    expect(await findSession(store.db, session.toString("latin1"))).toMatchObject({ displayName: "Ann" });
    expect(await store.db.selectFrom("feed").selectAll().execute()).toMatchObject([{ head: 1 }]);
  });

  test("c129: has what was saved before in its index of words in other forms, by the functions of this build", async (context) => {
    const store = await openEmpty(context, engine);
    await migrateAsPrevious(store);
    await addTeamsWithLibraries(store);
    await sql`insert into atoms (library_id, team_id, content, tags, importance, created_at, updated_at)
      values ('lib-diary', 'team-a', 'السعر ١٢٣٤', '{}', 5, now(), now())`.execute(store.db);
    await migrate(store);
    const { rows } = await store.db.transaction().execute(async (tx) => {
      await sql`set local enable_seqscan = off`.execute(tx);
      return sql`select from atoms where atom_parts(team_id, library_id, tags, content, source)
        @@ ${"'part ^12' & 'part 234'"}::tsquery`.execute(tx);
    });
    expect(rows).toHaveLength(1);
  });

  test("c47: older than this build carries over is refused, saying to which version to bring it first, and nothing is changed", async (context) => {
    const store = await openEmpty(context, engine);
    const migrations = [{ version: MIN_SCHEMA_VERSION - 1, name: "old", script: "create table teams ()" }];
    await migrate(store, { migrations });
    const before = await dumpSchema(store.db);
    for (const attempt of [migrate, planMigration, assertSchemaVersion]) {
      const refused = await attempt(store).then(String, (error: unknown) => error);
      expect(refused).toBeInstanceOf(SchemaVersionError);
      expect(String(refused)).toContain(
        wayFrom(MIN_SCHEMA_VERSION - 1, { oldest: MIN_SCHEMA_VERSION, newest: SCHEMA_VERSION }),
      );
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
