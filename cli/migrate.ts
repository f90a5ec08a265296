import { parseDuration } from "../domain/duration.ts";
import {
  type MigrationPlan,
  migrate,
  migrationTitle,
  planMigration,
  SCHEMA_VERSION,
} from "../store/database/migrate/migrate.ts";
import { openPostgres } from "../store/database/postgres/postgres.ts";
import type { AddCommand } from "./command/command.ts";
import { type DatabaseFlags, databaseOptions, requiredDatabase } from "./command/database-options.ts";
import { UsageError } from "./command/usage-error.ts";
import { outputOption, outputText, type StructuredFormat } from "./output/output.ts";

type MigrateFlags = DatabaseFlags & {
  readonly dryRun?: boolean;
  readonly timeout: string;
  readonly output?: StructuredFormat;
};

/** Adds `keyplane migrate`, which brings the database to the schema of this version. */
export const addMigrate: AddCommand = (program, { env, out }) => {
  const command = program.command("migrate").description("migrate the database to this version's schema");
  databaseOptions(command)
    .option("--dry-run", "show the steps without running them")
    .option("--timeout <duration>", "the longest total wait for locks", "5m")
    .addOption(outputOption())
    .example("keyplane migrate --database-url postgres://db/keyplane --dry-run", "show the steps")
    .example(
      "keyplane migrate --database-url postgres://db/keyplane --timeout 30s",
      "migrate, with a shorter wait for locks",
    )
    .action(async ({ dryRun = false, timeout, output, ...database }: MigrateFlags) => {
      const timeoutMs = durationOf(timeout);
      const store = await openPostgres(requiredDatabase(env, database), { maxConnections: 1 });
      const onProgress = output === undefined ? out : () => {};
      try {
        const plan = dryRun ? await planMigration(store) : await migrate(store, { timeoutMs, onProgress });
        out(output === undefined ? inWords(plan, dryRun) : outputText({ dryRun, ...plan }, output));
      } finally {
        await store.close();
      }
    });
};

function inWords({ from, to, migrations }: MigrationPlan, dryRun: boolean): string {
  const isNewer = to > SCHEMA_VERSION;
  const why = isNewer
    ? `: the schema is one version newer than this keyplane's ${SCHEMA_VERSION}, which works with it`
    : "";
  const summary = `${from} -> ${to}, ${migrations.length} ${dryRun ? "to apply" : "applied"}${why}`;
  return dryRun ? [...migrations.map(migrationTitle), summary].join("\n") : summary;
}

/**
 * Parses the duration of `--timeout`.
 *
 * @throws UsageError if it is not a duration
 */
function durationOf(text: string): number {
  try {
    return parseDuration(text);
  } catch (error) {
    if (error instanceof RangeError)
      throw new UsageError(`--timeout: write a duration such as 30s or 5m instead of "${text}"`);
    throw error;
  }
}
