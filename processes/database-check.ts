import { pause } from "../runtime/deadline.ts";
import type { Logger } from "../runtime/log.ts";
import { UnusableDatabaseError } from "../store/database/errors.ts";
import type { Store } from "../store/database/store.ts";
import type { Keyring } from "../store/encryption/keyring.ts";
import { assertUsable } from "../store/start-check.ts";

const CHECK_RETRY_MS = 1_000;

/**
 * Checks the database at the start. A database that does not answer may come back.
 *
 * @returns true if it answered
 * @throws UnusableDatabaseError for a database that will never work
 */
export async function checkDatabaseAtStart(store: Store, keyring: Keyring, log: Logger): Promise<boolean> {
  try {
    await assertUsable(store, keyring);
    return true;
  } catch (error) {
    if (error instanceof UnusableDatabaseError) throw error;
    log.warn({ error }, "the database does not answer: every decision is 503 until it does");
    return false;
  }
}

/** Resolves with the error once a database that did not answer at the start answers, and turns out to be unusable. */
export async function untilUnusable(store: Store, keyring: Keyring, isOver: () => boolean): Promise<Error> {
  while (!isOver()) {
    await pause(CHECK_RETRY_MS);
    try {
      await assertUsable(store, keyring);
      break;
    } catch (error) {
      if (error instanceof UnusableDatabaseError) return error;
    }
  }
  return new Promise<Error>(() => {});
}
