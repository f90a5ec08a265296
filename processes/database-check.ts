import { pause } from "../runtime/deadline.ts";
import type { Logger } from "../runtime/log.ts";
import { EncryptionKeyError, UnusableDatabaseError } from "../store/database/errors.ts";
import type { Store } from "../store/database/store.ts";
import { adoptFirstKey } from "../store/encryption/encryption-key.ts";
import type { Keyring } from "../store/encryption/keyring.ts";
import { assertUsable } from "../store/start-check.ts";

const CHECK_RETRY_MS = 1_000;

/**
 * Checks the database at the start, and takes the next step of a rotation of encryption keys. A database that does not
 * answer may come back.
 *
 * @returns true if it answered
 * @throws UnusableDatabaseError for a database that will never work
 */
export async function checkDatabaseAtStart(store: Store, keyring: Keyring, log: Logger): Promise<boolean> {
  try {
    await prepare(store, keyring, log);
    return true;
  } catch (error) {
    if (error instanceof UnusableDatabaseError) throw error;
    log.warn({ error }, "the database does not answer: every decision is 503 until it does");
    return false;
  }
}

/** Resolves with the error once a database that did not answer at the start answers, and turns out to be unusable. */
export async function untilUnusable(
  store: Store,
  keyring: Keyring,
  isOver: () => boolean,
  log: Logger,
): Promise<Error> {
  while (!isOver()) {
    await pause(CHECK_RETRY_MS);
    try {
      await prepare(store, keyring, log);
      break;
    } catch (error) {
      if (error instanceof UnusableDatabaseError) return error;
    }
  }
  return new Promise<Error>(() => {});
}

async function prepare(store: Store, keyring: Keyring, log: Logger): Promise<void> {
  await assertUsable(store, keyring);
  try {
    await adoptFirstKey(store, keyring, (warning) => log.warn({}, warning));
  } catch (error) {
    // Callers' keys do not depend on it: a server goes on with the key of before.
    if (!(error instanceof EncryptionKeyError)) throw error;
    log.warn({ error }, "the first encryption key is not used yet");
  }
}
