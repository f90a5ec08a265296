import { sql } from "kysely";
import { SchemaVersionError } from "./errors.ts";
import { sql as foundation } from "./migrations/001-foundation.ts";
import { sql as atoms } from "./migrations/002-atoms.ts";
import { sql as keySecrets } from "./migrations/003-key-secrets.ts";
import { sql as usageKnown } from "./migrations/004-usage-known.ts";
import { sql as fullQueue } from "./migrations/005-full-queue.ts";
import { sql as management } from "./migrations/006-management.ts";
import { sql as changeByIndex } from "./migrations/007-change-by-index.ts";
import { sql as concurrent } from "./migrations/008-concurrent.ts";
import { sql as keyPrefix } from "./migrations/009-key-prefix.ts";
import { sql as atomTerms } from "./migrations/010-atom-terms.ts";
import { sql as atomStatistics } from "./migrations/011-atom-statistics.ts";
import type { Store } from "./open.ts";

/** In the order of their numbers, without a gap. One that has been released is never changed. */
const MIGRATIONS = [
  { version: 1, name: "foundation", script: foundation },
  { version: 2, name: "atoms", script: atoms },
  { version: 3, name: "key-secrets", script: keySecrets },
  { version: 4, name: "usage-known", script: usageKnown },
  { version: 5, name: "full-queue", script: fullQueue },
  { version: 6, name: "management", script: management },
  { version: 7, name: "change-by-index", script: changeByIndex },
  { version: 8, name: "concurrent", script: concurrent },
  { version: 9, name: "key-prefix", script: keyPrefix },
  { version: 10, name: "atom-terms", script: atomTerms },
  { version: 11, name: "atom-statistics", script: atomStatistics },
] as const;

/** The schema version that this build was written for. */
export const SCHEMA_VERSION = MIGRATIONS.length;

/** Any number, as long as nobody else uses it: "keyplane" on a telephone. */
const LOCK = 53_975_263;

/** One statement of a script: dollar-quoted bodies, strings and comments may contain semicolons. */
const STATEMENT = /(?:\$\$[\s\S]*?\$\$|'(?:[^']|'')*'|--[^\n]*|[^;])+/g;

/** Brings the schema to this build's version, all of it or nothing. Several at once wait for one another. */
export async function migrate(store: Store): Promise<void> {
  await store.db.transaction().execute(async (tx) => {
    await sql`select pg_advisory_xact_lock(${LOCK})`.execute(tx);
    await sql`create table if not exists schema_migrations (
      version integer primary key, name text not null, applied_at timestamptz not null default now())`.execute(tx);
    const done = await tx.selectFrom("schema_migrations").select("version").execute();
    const versions = new Set(done.map(({ version }) => version));
    for (const { version, name, script } of MIGRATIONS) {
      if (versions.has(version)) continue;
      for (const statement of script.match(STATEMENT) ?? []) {
        if (statement.trim() !== "") await sql.raw(statement).execute(tx);
      }
      await tx.insertInto("schema_migrations").values({ version, name }).execute();
    }
  });
}

/**
 * Refuses a schema that this build cannot work with: one older than it needs, or more than one version newer (the one
 * is a rolling upgrade's).
 *
 * @throws SchemaVersionError saying what to run
 */
export async function assertSchemaVersion(store: Store): Promise<void> {
  const version = await schemaVersion(store);
  if (version < SCHEMA_VERSION) {
    throw new SchemaVersionError(
      `the database's schema is version ${version}, and version ${SCHEMA_VERSION} is needed: run keyplane migrate`,
    );
  }
  if (version > SCHEMA_VERSION + 1) {
    throw new SchemaVersionError(
      `the database's schema is version ${version}, too new for this build of version ${SCHEMA_VERSION}: upgrade it`,
    );
  }
}

async function schemaVersion(store: Store): Promise<number> {
  const { rows } = await sql<{
    present: boolean;
  }>`select to_regclass('schema_migrations') is not null as present`.execute(store.db);
  if (rows[0]?.present !== true) return 0;
  const newest = await store.db
    .selectFrom("schema_migrations")
    .select(({ fn }) => fn.max("version").as("version"))
    .executeTakeFirst();
  return newest?.version ?? 0;
}
