import { migrate } from "../store/migrate.ts";
import { openPostgres } from "../store/open.ts";
import { type AddCommand, required } from "./command.ts";

/** `keyplane migrate`: brings the database to the schema that this version needs. */
export const addMigrate: AddCommand = (program, { env, out }) => {
  program
    .command("migrate")
    .description("bring the database to the schema that this version needs")
    .option("--database-url <url>", "the PostgreSQL database")
    .action(async (flags) => {
      const store = await openPostgres(required(env, "database-url", flags.databaseUrl));
      try {
        await migrate(store);
        out("the schema is up to date");
      } finally {
        await store.close();
      }
    });
};
