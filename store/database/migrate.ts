import { sql } from "kysely";
import { sql as foundation } from "../migrations/001-foundation.ts";
import { sql as atoms } from "../migrations/002-atoms.ts";
import { sql as keySecrets } from "../migrations/003-key-secrets.ts";
import { sql as usageKnown } from "../migrations/004-usage-known.ts";
import { sql as fullQueue } from "../migrations/005-full-queue.ts";
import { sql as management } from "../migrations/006-management.ts";
import { sql as changeByIndex } from "../migrations/007-change-by-index.ts";
import { sql as concurrent } from "../migrations/008-concurrent.ts";
import { sql as keyPrefix } from "../migrations/009-key-prefix.ts";
import { sql as atomTerms } from "../migrations/010-atom-terms.ts";
import { sql as atomStatistics } from "../migrations/011-atom-statistics.ts";
import { sql as atomIds, uuidv7Before18 } from "../migrations/012-atom-ids.ts";
import { sql as versionRoom } from "../migrations/013-version-room.ts";
import { sql as encryptionKey } from "../migrations/014-encryption-key.ts";
import { sql as leaderTerm } from "../migrations/015-leader-term.ts";
import { sql as deletedAtoms } from "../migrations/016-deleted-atoms.ts";
import { sql as bootstrapToken } from "../migrations/017-bootstrap-token.ts";
import type { Db } from "./change.ts";
import { SchemaVersionError } from "./errors.ts";
import { assertListenWorks } from "./listen-check.ts";
import { lockWaits } from "./lock-waits.ts";
import { assertServerVersion } from "./server-version.ts";
import type { Store } from "./store.ts";

/** In the order of their numbers, without a gap. One that has been released is never changed. */
const MIGRATIONS = [
  { version: 1, name: "foundation", script: foundation },
  { version: 2, name: "atoms", script: uuidv7Before18 + atoms },
  { version: 3, name: "key-secrets", script: keySecrets },
  { version: 4, name: "usage-known", script: usageKnown },
  { version: 5, name: "full-queue", script: fullQueue },
  { version: 6, name: "management", script: management },
  { version: 7, name: "change-by-index", script: changeByIndex },
  { version: 8, name: "concurrent", script: concurrent },
  { version: 9, name: "key-prefix", script: keyPrefix },
  { version: 10, name: "atom-terms", script: atomTerms },
  { version: 11, name: "atom-statistics", script: atomStatistics },
  { version: 12, name: "atom-ids", script: atomIds },
  { version: 13, name: "version-room", script: versionRoom },
  { version: 14, name: "encryption-key", script: encryptionKey },
  { version: 15, name: "leader-term", script: leaderTerm },
  { version: 16, name: "deleted-atoms", script: deletedAtoms },
  { version: 17, name: "bootstrap-token", script: bootstrapToken },
] as const satisfies readonly Migration[];

/** The schema version that this build was written for. */
export const SCHEMA_VERSION = MIGRATIONS.length;

/** Any number, as long as nobody else uses it: "keyplane" on a telephone. */
const LOCK = 53_975_263;

/** One statement of a script: dollar-quoted bodies, strings and comments may contain semicolons. */
const STATEMENT = /(?:\$\$[\s\S]*?\$\$|'(?:[^']|'')*'|--[^\n]*|[^;])+/g;

/** One change of the schema. */
export type Migration = { readonly version: number; readonly name: string; readonly script: string };

export type MigrateOptions = {
  /** Told what is done and waited for, one line each. */
  readonly onProgress?: (line: string) => void;
  /** How long others are waited for, in all. Milliseconds. */
  readonly timeoutMs?: number;
  /** How long one statement queues for a lock, while others queue behind it. Milliseconds. */
  readonly lockTimeoutMs?: number;
  readonly migrations?: readonly Migration[];
};

/** From which version to which, and by what. */
export type MigrationPlan = {
  readonly from: number;
  readonly to: number;
  readonly migrations: readonly { readonly version: number; readonly name: string }[];
};

/** What would be done by {@link migrate}. Changes nothing. */
export async function planMigration({ db }: Store, migrations: readonly Migration[] = MIGRATIONS) {
  const { from, pending } = await pendingIn(db, migrations);
  return toPlan(from, pending);
}

/**
 * Brings the schema to this build's version, one migration after the other, each whole or not at all: one that fails or
 * gives up leaves those before it. Works on a connection of its own, whose statements may take as long as they take. Only
 * one process migrates at a time; the others wait.
 *
 * A statement that cannot have its lock is in nobody's way for long: it gives up after `lockTimeoutMs`, and its migration is
 * begun again later (threats c47).
 *
 * @returns what was done
 * @throws ServerVersionError for a PostgreSQL older than 15
 * @throws ListenError behind a transaction pooler, and on a standby
 * @throws SchemaVersionError where the schema is newer than this build
 * @throws MigrationBlockedError saying who holds what was waited for, after `timeoutMs`
 */
export function migrate(store: Store, options: MigrateOptions = {}): Promise<MigrationPlan> {
  const { migrations = MIGRATIONS, timeoutMs = 300_000, lockTimeoutMs = 1_000, onProgress = () => {} } = options;
  return store.withConnection(async (db) => {
    await assertServerVersion(db);
    // Behind a transaction pooler the lock and the limits below would be anybody's.
    if (store.engine === "postgres") await assertListenWorks(store);
    const waiting = lockWaits({ store, db, lockTimeoutMs, timeoutMs, onProgress });
    await waiting.prepare();
    await waiting.holdAlone(LOCK);
    const { from, pending } = await waiting.retry("the schema's version", () => pendingIn(db, migrations));
    for (const migration of pending) {
      const title = titleOf(migration);
      const start = performance.now();
      await waiting.retry(title, () => apply(db, migration));
      onProgress(`${title} applied in ${((performance.now() - start) / 1_000).toFixed(1)} s`);
    }
    return toPlan(from, pending);
  });
}

/** As its file is called: `008-concurrent`. */
export function titleOf({ version, name }: { readonly version: number; readonly name: string }): string {
  return `${String(version).padStart(3, "0")}-${name}`;
}

function toPlan(from: number, pending: readonly Migration[]): MigrationPlan {
  return {
    from,
    to: pending.at(-1)?.version ?? from,
    migrations: pending.map(({ version, name }) => ({ version, name })),
  };
}

async function pendingIn(db: Db, migrations: readonly Migration[]): Promise<{ from: number; pending: Migration[] }> {
  const from = await schemaVersion(db);
  const newest = migrations.at(-1)?.version ?? 0;
  if (from > newest) {
    throw new SchemaVersionError(
      `the database's schema is version ${from}, newer than this build's ${newest}: nothing was changed; use the newer keyplane`,
    );
  }
  return { from, pending: migrations.filter(({ version }) => version > from) };
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
 * Refuses a schema that this build cannot work with: one older than it needs, or more than one version newer (the one
 * is a rolling upgrade's).
 *
 * @throws SchemaVersionError saying what to run
 */
export async function assertSchemaVersion({ db }: Store): Promise<void> {
  const version = await schemaVersion(db);
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

async function schemaVersion(db: Db): Promise<number> {
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
