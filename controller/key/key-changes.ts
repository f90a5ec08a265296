import type { RevocationReason } from "../../domain/key/stored/stored-key.ts";
import { change, type Fence } from "../../store/database/change.ts";
import { DatabaseUnavailableError, StaleLeaderError } from "../../store/database/errors.ts";
import type { Store } from "../../store/database/store.ts";
import { type PolicyUpdate, updateKeyPolicies } from "../../store/keys/lifecycle/policy-update.ts";
import { releaseKey } from "../../store/keys/lifecycle/release.ts";
import { revokeKeys } from "../../store/keys/lifecycle/revocation.ts";
import { createBatcher } from "./batcher.ts";

/** Largest number of keys in one transaction: others have the database in between, even if it takes one at a time. */
const MAX_KEYS = 100;

/**
 * Revokes and releases keys, and changes what they may do. Changes that are requested at once go in one transaction, so
 * that of thousands of keys that end together the last one does not wait for a transaction each.
 */
export type KeyChanges = {
  /**
   * @returns the seq of the change
   * @throws StaleLeaderError, DatabaseUnavailableError
   */
  revoke(keyId: string, reason: RevocationReason): Promise<number>;
  /**
   * Releases a key whose declaration is gone, and that is to outlive it.
   *
   * @returns the seq of the change
   * @throws StaleLeaderError, DatabaseUnavailableError
   */
  release(keyId: string): Promise<number>;
  /**
   * @returns the seq of the change
   * @throws StaleDeclarationError, StaleLeaderError, DatabaseUnavailableError
   */
  updatePolicy(update: PolicyUpdate): Promise<number>;
};

type KeyChange =
  | { readonly revoke: { readonly keyId: string; readonly reason: RevocationReason } }
  | { readonly release: string }
  | { readonly update: PolicyUpdate };

export function createKeyChanges(store: Store, fence: Fence | null): KeyChanges {
  const changeKey = createBatcher<KeyChange>({
    maxSize: MAX_KEYS,
    isCommon: (error) => error instanceof StaleLeaderError || error instanceof DatabaseUnavailableError,
    async run(changes) {
      const { seq } = await change(store, fence, async (tx) => {
        await revokeKeys(
          tx,
          changes.flatMap((one) => ("revoke" in one ? [one.revoke] : [])),
        );
        for (const one of changes) if ("release" in one) await releaseKey(tx, one.release);
        await updateKeyPolicies(
          tx,
          changes.flatMap((one) => ("update" in one ? [one.update] : [])),
        );
      });
      return seq;
    },
  });
  return {
    revoke: (keyId, reason) => changeKey({ revoke: { keyId, reason } }),
    release: (keyId) => changeKey({ release: keyId }),
    updatePolicy: (update) => changeKey({ update }),
  };
}
