import { sql } from "kysely";
import { afterAll, beforeAll, describe, inject } from "vitest";
import { openPostgres, type PostgresOptions } from "../../../store/database/postgres/postgres.ts";
import type { Store } from "../../../store/database/store.ts";
import { askDesk } from "../desk.ts";
import type { PostgresOfRun } from "../global-setup.ts";
import { NIGHTLY } from "../nightly.ts";
import { type CreatedDatabase, createDatabase } from "./databases.ts";
import { openEmbedded } from "./embedded-database.ts";
import { KeptDatabases } from "./kept-databases.ts";
import { asOnOneConnection } from "./one-connection.ts";

export type Engine = Store["engine"];

/**
 * Of a store's pool. What a connection's first statements take, for PostgreSQL to read its catalogue and to compile the
 * triggers, is more than most tests take: those that do not need many have few.
 */
const FEW_CONNECTIONS = 3;
const MANY_CONNECTIONS = 20;

/** Started by importing this file. */
const postgres = await askDesk<PostgresOfRun>(inject("postgresPort"));

/** How long an answer takes on a busy machine is no promise of these tests. */
const PATIENT = { answerTimeoutMs: 120_000, memoryRunMs: 60_000 };

const openForFew = storesOf({ maxConnections: FEW_CONNECTIONS, ...PATIENT });
const openForAnyPlans = storesOf({ maxConnections: FEW_CONNECTIONS, genericPlans: true, ...PATIENT });
const openForMany = storesOf({ maxConnections: MANY_CONNECTIONS });

/** The same promises on both engines. `store()` is one for the whole block, empty at its beginning and migrated. */
export function describeOnEachEngine(promise: string, tests: (store: () => Store, engine: Engine) => void): void {
  describeOnPGlite(promise, tests);
  describeOnEitherEngine(promise, tests);
}

/** On another version of PostgreSQL (npm run test:postgres15) PGlite is what it is, and is left out. */
function describeOnPGlite(promise: string, tests: (store: () => Store, engine: Engine) => void): void {
  if (process.env.KEYPLANE_TEST_POSTGRES !== undefined) return;
  describe(`${promise}, on PGlite`, () => withStore(openEmbedded, "pglite", tests));
}

/** Promises about vectors: on PGlite, which has pgvector built in, and on a PostgreSQL that has it. */
export function describeOnEachEngineWithVectors(
  promise: string,
  tests: (store: () => Store, engine: Engine) => void,
): void {
  describeOnPGlite(promise, tests);
  if (postgres.hasVectors) describeOnEitherEngine(promise, tests);
}

/** Whether the run's PostgreSQL has pgvector. */
export const postgresHasVectors = postgres.hasVectors;

/**
 * The same on both engines nightly, and else on the quicker: where the way to the store is shown on both elsewhere, or
 * PGlite takes long for many examples of one promise.
 */
export const describeNightlyOnEachEngine: typeof describeOnEachEngine = (promise, tests) =>
  (NIGHTLY ? describeOnEachEngine : describeOnEitherEngine)(promise, tests);

/** The same on the quicker one alone, where the engine makes no difference: what PGlite would hang on fails there. */
export function describeOnEitherEngine(promise: string, tests: (store: () => Store, engine: Engine) => void): void {
  describe(`${promise}, on PostgreSQL`, () => withStore(openMigrated, "postgres", tests));
}

/**
 * The same where each statement is planned for any arguments, kept ones once: for what asks the same all the time and
 * takes no interest in how it is found, as controllers do.
 */
export function describeOnEitherEngineByAnyPlans(promise: string, tests: (store: () => Store) => void): void {
  describe(`${promise}, on PostgreSQL`, () => withStore(openByAnyPlans, "postgres", tests));
}

/** For promises about real concurrency and real connections: these tests ask what they like within transactions. */
export function describeOnPostgres(promise: string, tests: (store: () => Store, engine: Engine) => void): void {
  describe(`${promise}, on PostgreSQL`, () => withStore(openForMany, "postgres", tests));
}

/**
 * A store on an empty database of the run's PostgreSQL, of the present schema, which is no longer its own once it is
 * closed. What would hang on PGlite fails.
 */
export async function openMigrated(): Promise<Store> {
  return asOnOneConnection(await openForFew());
}

/** The same as for {@link describeOnEitherEngineByAnyPlans}. */
export async function openByAnyPlans(): Promise<Store> {
  return asOnOneConnection(await openForAnyPlans());
}

/** Opens stores on databases of their own, or one after the other on those of a process that test files share. */
function storesOf(options: PostgresOptions): () => Promise<Store> {
  const make = () => createDatabase(postgres.url, postgres.template);
  if (process.env.KEYPLANE_TEST_SHARES_PROCESS !== undefined) {
    const kept = new KeptDatabases(make, options, postgres.socketFolder);
    return () => kept.open();
  }
  return async () => {
    const { url, drop } = await make();
    const store = await openPostgres(url, options);
    return {
      ...store,
      async close() {
        await store.close();
        await drop();
      },
    };
  };
}

function withStore(
  open: () => Promise<Store>,
  engine: Engine,
  tests: (store: () => Store, engine: Engine) => void,
): void {
  let opened: Store | undefined;
  beforeAll(async () => {
    opened = await open();
  });
  afterAll(() => opened?.close());
  tests(() => {
    if (opened === undefined) throw new Error("the store is open within tests alone");
    return opened;
  }, engine);
}

/** A new, empty database of the run's PostgreSQL. The caller drops it. */
export function freshDatabase(): Promise<CreatedDatabase> {
  return createDatabase(postgres.url);
}

/** A new database of the present schema on the run's PostgreSQL, in which there is nothing. The caller drops it. */
export function migratedDatabase(): Promise<CreatedDatabase> {
  return createDatabase(postgres.url, postgres.template);
}

/** By which another process reaches the same database of the run's PostgreSQL. */
export async function databaseUrl(store: Store): Promise<URL> {
  const { rows } = await sql<{ name: string }>`select current_database() as name`.execute(store.db);
  const url = new URL(postgres.url);
  url.pathname = `/${rows[0]?.name}`;
  return url;
}
