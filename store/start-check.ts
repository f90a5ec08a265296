import { assertListenWorks } from "./database/migrate/listen-check.ts";
import { assertSchemaVersion } from "./database/migrate/migrate.ts";
import { assertServerVersion } from "./database/migrate/server-version.ts";
import type { Store } from "./database/store.ts";
import { assertKeyring } from "./encryption/encryption-key.ts";
import type { Keyring } from "./encryption/keyring.ts";

/**
 * Checks a database before a server or a controller relies on it.
 *
 * @throws UnusableDatabaseError saying what to do, for a PostgreSQL older than 15, a schema that this build cannot
 *   work with, a transaction pooler, and other encryption keys than it needs; any other error if the database does not
 *   answer or takes no writes, which may be temporary
 */
export async function assertUsable(store: Store, keyring: Keyring): Promise<void> {
  await assertServerVersion(store.db);
  await assertSchemaVersion(store);
  await assertListenWorks(store);
  await assertKeyring(store.db, keyring);
}
