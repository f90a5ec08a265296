import { join } from "node:path";
import { lockData } from "../controller/cluster/files/lock.ts";
import type { Environment } from "../domain/environment.ts";
import { systemClock } from "../runtime/clock.ts";
import { setting } from "../runtime/settings.ts";
import { assertSchemaVersion } from "../store/database/migrate/migrate.ts";
import { openPGlite } from "../store/database/pglite/pglite.ts";
import { openPostgres } from "../store/database/postgres/postgres.ts";
import type { Store } from "../store/database/store.ts";
import { forgetEncryptionKey } from "../store/encryption/encryption-key.ts";
import type { AddCommand } from "./command/command.ts";
import { type DatabaseFlags, databaseOptions, namesDatabase, requiredDatabase } from "./command/database-options.ts";
import { UsageError } from "./command/usage-error.ts";
import { assertDataFolder } from "./data/data-folder.ts";
import { outputOption, outputText, type StructuredFormat } from "./output/output.ts";

type ForgetFlags = DatabaseFlags & { readonly data?: string; readonly output?: StructuredFormat };

/** Adds `keyplane forget-encryption-key FINGERPRINT`, which gives up an encryption key that is lost for good. */
export const addForgetEncryptionKey: AddCommand = (program, { env, out }) => {
  const command = program
    .command("forget-encryption-key")
    .argument("<fingerprint>", "the key's fingerprint, from the error message")
    .description("give up a lost encryption key and all that was encrypted with it")
    .setting("--data <dir>", "the data folder of keyplane up");
  databaseOptions(command)
    .addOption(outputOption())
    .example("keyplane forget-encryption-key 0a1b2c3d --data .keyplane", "continue without that key")
    .action(async (fingerprint: string, { output, ...flags }: ForgetFlags) => {
      const lost = await withStore(flags, env, async (store) => {
        await assertSchemaVersion(store);
        return forgetEncryptionKey(store, fingerprint);
      });
      out(output === undefined ? inWords(lost) : outputText({ fingerprint, lostCredentials: lost }, output));
    });
};

function inWords(lost: number): string {
  return [
    `forgotten; ${lost} ${lost === 1 ? "credential is" : "credentials are"} lost with it`,
    "the next start takes the key that it is given, and stores declared credentials again from their Secrets",
    ...(lost > 0 ? ["give the credentials of gateways made by the management API again"] : []),
  ].join("\n");
}

/**
 * Runs a task on the database. A flag wins over a variable, whichever of a data folder and PostgreSQL each names.
 *
 * @throws UsageError if flags, or variables alone, name both
 */
async function withStore<T>(
  { data: folder, ...database }: Omit<ForgetFlags, "output">,
  env: Environment,
  task: (store: Store) => Promise<T>,
): Promise<T> {
  const variables = folder === undefined && !namesDatabase({}, database) ? env : {};
  const data = setting(variables, "data", folder);
  if (data !== undefined && namesDatabase(variables, database))
    throw new UsageError("--data and --database-url, or their variables, name two databases: give one of them");
  if (data === undefined) return use(await openPostgres(requiredDatabase(env, database)), task);
  await assertDataFolder(data);
  const lock = await lockData(data, { clock: systemClock });
  try {
    return await use(await openPGlite(join(data, "db")), task);
  } finally {
    lock.release();
  }
}

async function use<T>(store: Store, task: (store: Store) => Promise<T>): Promise<T> {
  try {
    return await task(store);
  } finally {
    await store.close();
  }
}
