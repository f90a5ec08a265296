import type { Environment } from "../domain/environment.ts";
import { systemClock } from "../runtime/clock.ts";
import { createLog } from "../runtime/log.ts";
import { parseServerConfig, type ServerFlags } from "../server/context/config.ts";
import { REPLICA_SETTINGS } from "../server/context/settings.ts";
import { allAddresses } from "../server/http/connections/all-addresses.ts";
import { assertPortsFree } from "../server/http/connections/free-ports.ts";
import type { DatabaseLocation } from "../store/database/postgres/connection-config.ts";
import { openPostgres } from "../store/database/postgres/postgres.ts";
import { FEED_CONNECTIONS } from "../store/feed/feed-connections.ts";
import type { AddCommand } from "./command/command.ts";
import { ENCRYPTION_KEY, requiredEncryptionKeys } from "./command/config.ts";
import { type DatabaseFlags, databaseOptions, requiredDatabase } from "./command/database-options.ts";
import { listenerOptions } from "./command/listener-options.ts";
import { whenAborted } from "./command/when-aborted.ts";

type ServeFlags = ServerFlags &
  DatabaseFlags & {
    readonly encryptionKeyFile?: string | undefined;
  };

export const addServer: AddCommand = (program, { env, out, stopSignal }) => {
  const command = listenerOptions(
    program
      .command("server")
      .description("run one server replica on PostgreSQL, for production; it refuses PLATFORM_API_KEYS"),
    "all addresses",
  );
  databaseOptions(command)
    .settings(REPLICA_SETTINGS)
    .setting("--encryption-key-file <file>", "encryption keys, one per line; the first encrypts, all decrypt")
    .variable(...ENCRYPTION_KEY)
    .example(
      "keyplane server --database-url postgres://db/keyplane --encryption-key-file /run/keyplane/key",
      "one replica, on port 8080 of all addresses",
    )
    .action((flags) => runServer(requiredDatabase(env, flags), flags, env, out, stopSignal()));
};

/** Runs `keyplane server`, one replica on PostgreSQL, until the signal. */
async function runServer(
  database: DatabaseLocation,
  flags: ServeFlags,
  env: Environment,
  out: (line: string) => void,
  signal: AbortSignal,
): Promise<void> {
  const config = parseServerConfig(env, flags, { production: true, host: await allAddresses() });
  await assertPortsFree(config);
  const keyring = await requiredEncryptionKeys(env, flags.encryptionKeyFile);
  // Only here: the server is large, and a controller does without.
  const { startServer } = await import("../processes/main.ts");
  const store = await openPostgres(database);
  const feedStore = await openPostgres(database, FEED_CONNECTIONS);
  try {
    const log = createLog(config.logLevel);
    const server = await startServer({
      store,
      feedStore,
      database,
      config,
      keyring,
      clock: systemClock,
      log,
    });
    const failed = server.failed.then((error) => {
      log.error({ error }, "the server cannot go on: it drains, and ends");
      return error;
    });
    const ended = Promise.race([whenAborted(signal), failed]);
    const isReady = await Promise.race([server.whenCurrent.then(() => true), ended.then(() => false)]);
    if (isReady) out(`ready ${server.url}`);
    const failure = await ended;
    await server.close();
    if (failure !== undefined) throw failure;
  } finally {
    await Promise.all([store.close(), feedStore.close()]);
  }
}
