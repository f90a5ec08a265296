import { sql } from "kysely";
import { carryOver, indexes, sql as schema } from "../../migrations/059-schema.ts";
import type { Db } from "../change.ts";
import { SchemaVersionError } from "../errors.ts";
import type { Store } from "../store.ts";
import { judgeEncoding } from "./encoding.ts";
import { type LargeIndex, makeLargeIndex } from "./large-indexes.ts";
import { assertListenWorks } from "./listen-check.ts";
import { lockWaits } from "./lock-waits.ts";
import { wayFrom } from "./releases.ts";
import { assertServerVersion } from "./server-version.ts";
import { makeVectorTables } from "./vector-table.ts";

/**
 * Migrations in the order of their numbers, without a gap. The first makes the whole schema, and carries over a
 * database of the version before it, but of no older version. A released migration is never changed. To squash them
 * all, a migration of the next number takes their place.
 */
export const MIGRATIONS = [
  { version: 59, name: "schema", script: schema, carryOver, indexes },
] as const satisfies Migration[];

/** Schema version that this build was written for. */
export const SCHEMA_VERSION: number = Math.max(...MIGRATIONS.map(({ version }) => version));

/** Oldest schema version that this build can migrate. */
export const MIN_SCHEMA_VERSION: number = MIGRATIONS[0].version - 1;

/** Number of the advisory lock, which no other program uses: "keyplane" on a telephone keypad. */
const LOCK = 53_975_263;

/** One statement of a script: dollar-quoted bodies, strings and comments may contain semicolons. */
const STATEMENT = /(?:\$\$[\s\S]*?\$\$|'(?:[^']|'')*'|--[^\n]*|[^;])+/g;

/** Version of the schema: a change of the version before it, or the whole schema. */
type Migration = {
  readonly version: number;
  readonly name: string;
  /** Script that makes this version from the one before it, or, if it is the whole schema, from an empty database. */
  readonly script: string;
  /** Script that makes this version from the version before it, if `script` is the whole schema. */
  readonly carryOver?: string;
  /** Indexes that are made after all scripts, while others read and write. */
  readonly indexes?: readonly LargeIndex[];
};

type MigrateOptions = {
  /** Called with what is done and waited for, one line each. */
  readonly onProgress?: (line: string) => void;
  /** Milliseconds to wait for the locks of others, in all. */
  readonly timeoutMs?: number;
  /** Milliseconds that a statement queues for a lock at most, while others queue behind it. */
  readonly lockTimeoutMs?: number;
  readonly migrations?: readonly Migration[];
};

/** Schema versions before and after a migration, and the migrations in between. */
export type MigrationPlan = {
  readonly from: number;
  readonly to: number;
  readonly migrations: readonly { readonly version: number; readonly name: string }[];
};

/** Plans what {@link migrate} would do, and changes nothing. */
export async function planMigration({ db }: Store, migrations: readonly Migration[] = MIGRATIONS) {
  const { from, pending } = await pendingIn(db, migrations);
  return toPlan(from, pending);
}

/**
 * Brings the schema to this build's version, one migration after the other, each whole or not at all: a migration that
 * fails or gives up leaves those before it. Works on a connection of its own, whose statements have no time limit. Only
 * one process migrates at a time; the others wait.
 *
 * Makes the tables of vectors if the database has the extension for them; if not, a progress line says what an
 * administrator has to do. Makes the indexes of large tables last, as no other session has to wait for them (threats
 * c47). The next call makes the indexes that an interrupted call has not made.
 *
 * Leaves a schema as it is that is one version newer, with which this build works: who goes back to it may migrate first
 * (threats c42).
 *
 * A statement that cannot have its lock does not block other sessions for long: it gives up after `lockTimeoutMs`, and
 * its migration is begun again later (threats c47).
 *
 * @returns the migrations that were applied
 * @throws ServerVersionError for a PostgreSQL older than 15
 * @throws EncodingError for a database that cannot hold Unicode
 * @throws ListenError behind a transaction pooler
 * @throws DatabaseUnavailableError if the database does not answer, or takes no writes
 * @throws SchemaVersionError if the schema is newer than this build by two versions or more, or too old for it
 * @throws MigrationBlockedError after `timeoutMs`; its message names the sessions that held the locks
 */
export function migrate(store: Store, options: MigrateOptions = {}): Promise<MigrationPlan> {
  const { timeoutMs = 300_000, lockTimeoutMs = 1_000, onProgress = () => {} } = options;
  const migrations: readonly Migration[] = options.migrations ?? MIGRATIONS;
  return store.withConnection(async (db) => {
    await assertServerVersion(db);
    const lacking = await judgeEncoding(db);
    // Behind a transaction pooler the lock and the limits below would land on connections of other clients.
    if (store.engine === "postgres") await assertListenWorks(store);
    const waiting = lockWaits({ store, db, lockTimeoutMs, timeoutMs, onProgress });
    await waiting.prepare();
    await waiting.holdAlone(LOCK);
    const { from, pending } = await waiting.retry("the schema's version", () => pendingIn(db, migrations));
    // What the newer build has taken away is not made again.
    if (from > newestOf(migrations)) return toPlan(from, []);
    /** Reports how long a step took, including its waits; reports nothing if there was nothing to do. */
    const timed = async (title: string, done: string, task: () => Promise<boolean>) => {
      const start = performance.now();
      const isNew = await waiting.retry(title, task);
      if (isNew) onProgress(`${title} ${done} in ${((performance.now() - start) / 1_000).toFixed(1)} s`);
    };
    for (const migration of pending) {
      await timed(migrationTitle(migration), "applied", async () => {
        await apply(db, migration);
        return true;
      });
    }
    const missing = await waiting.retry("the tables of vectors", () => makeVectorTables(db));
    await waiting.takeTime();
    for (const index of migrations.flatMap(({ indexes = [] }) => indexes)) {
      await timed(`the index ${index.name}`, "made", () => makeLargeIndex(db, store.engine, index));
    }
    for (const line of [missing, lacking]) if (line !== undefined) onProgress(line);
    return toPlan(from, pending);
  });
}

/** Returns a migration's title in the form of its file name: `008-concurrent`. */
export function migrationTitle({ version, name }: { readonly version: number; readonly name: string }): string {
  return `${String(version).padStart(3, "0")}-${name}`;
}

function toPlan(from: number, pending: readonly Migration[]): MigrationPlan {
  return {
    from,
    to: pending.at(-1)?.version ?? from,
    migrations: pending.map(({ version, name }) => ({ version, name })),
  };
}

function newestOf(migrations: readonly Migration[]): number {
  return migrations.at(-1)?.version ?? 0;
}

async function pendingIn(db: Db, migrations: readonly Migration[]): Promise<{ from: number; pending: Migration[] }> {
  const from = await schemaVersion(db);
  const newest = newestOf(migrations);
  if (from > newest + 1) {
    throw new SchemaVersionError(
      `the database's schema is version ${from}, newer than this build's ${newest}: nothing was changed; use the newer keyplane`,
    );
  }
  const pending = migrations.filter(({ version }) => version > from);
  const [first, ...later] = pending;
  if (from === 0 || first?.carryOver === undefined) return { from, pending };
  if (from < first.version - 1) throw tooOld(from, first.version - 1);
  return { from, pending: [{ ...first, script: first.carryOver }, ...later] };
}

function tooOld(version: number, oldest: number): SchemaVersionError {
  return new SchemaVersionError(
    `the database's schema is version ${version}, and this build migrates none before ${oldest}: nothing was changed; ${wayFrom(version, { oldest, newest: SCHEMA_VERSION })}`,
  );
}

async function apply(db: Db, { version, name, script }: Migration): Promise<void> {
  await db.transaction().execute(async (tx) => {
    await sql`create table if not exists schema_migrations (
      version integer primary key, name text not null, applied_at timestamptz not null default now())`.execute(tx);
    for (const statement of script.match(STATEMENT) ?? []) {
      if (statement.trim() !== "") await sql.raw(statement).execute(tx);
    }
    await tx.insertInto("schema_migrations").values({ version, name }).execute();
  });
}

/**
 * Refuses a schema that this build cannot work with: older than it needs, or more than one version newer (a rolling
 * upgrade has one version newer).
 *
 * @throws SchemaVersionError saying what to run
 */
export async function assertSchemaVersion({ db }: Store): Promise<void> {
  const version = await schemaVersion(db);
  if (version > 0 && version < MIN_SCHEMA_VERSION) throw tooOld(version, MIN_SCHEMA_VERSION);
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

/** Reads the version of the database's schema; 0 if it has none. */
export async function schemaVersion(db: Db): Promise<number> {
  const { rows } = await sql<{
    present: boolean;
  }>`select to_regclass('schema_migrations') is not null as present`.execute(db);
  if (rows[0]?.present !== true) return 0;
  const newest = await db
    .selectFrom("schema_migrations")
    .select(({ fn }) => fn.max("version").as("version"))
    .executeTakeFirst();
  return newest?.version ?? 0;
}
