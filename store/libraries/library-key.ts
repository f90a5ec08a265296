import type { KeyPolicy } from "../../domain/key/declaration/key-policy.ts";
import { NO_POLICY } from "../../domain/key/fields/key-policies.ts";
import type { RevocationReason } from "../../domain/key/stored/stored-key.ts";
import type { Tx } from "../database/change.ts";
import { newId } from "../database/ids.ts";
import { reserveVersion } from "../keys/lifecycle/key-reservations.ts";
import { activateVersion } from "../keys/lifecycle/key-versions.ts";
import { updateKeyPolicy } from "../keys/lifecycle/policy-update.ts";
import { lockKey } from "../keys/rows/api-managed-keys.ts";

/** Declaration of the model that a library calls. */
export type LibraryModelDraft = {
  readonly library: {
    readonly id: string;
    readonly cluster: string;
    readonly namespace: string;
    readonly name: string;
    readonly teamId: string;
  };
  /** Gateway; undefined if it does not exist: nothing begins then, and an existing key may call no gateway. */
  readonly gatewayId: string | undefined;
  readonly model: string;
  /** Generation of the declaration. */
  readonly generation: number;
  /** Makes a secret that is not kept: no client presents the library's key, and servers act by its digest. */
  readonly mint: () => { readonly digest: string; readonly prefix: string };
};

/** Reasons for which a person has ended a key: no other is minted in its place. */
const FINAL: ReadonlySet<RevocationReason> = new Set<RevocationReason>(["ByHand", "Leaked"]);

/** Purposes of the keys of libraries; the names of the keys begin with them. */
const PURPOSES = {
  embeddings: { displayName: "Embeddings of library", scope: "gateway:embed" },
  extraction: { displayName: "Extraction into library", scope: "gateway:generate" },
} as const;

/**
 * Stores the key with which a library calls its model: bound to the gateway, with one scope and one model.
 *
 * @param keyId the library's present key for this purpose; undefined for none
 * @returns id of the key to use; undefined if a person has revoked it
 */
export async function declareLibraryKey(
  tx: Tx,
  purpose: keyof typeof PURPOSES,
  { library, gatewayId, model, generation, mint }: LibraryModelDraft,
  keyId: string | undefined,
): Promise<string | undefined> {
  const { displayName, scope } = PURPOSES[purpose];
  const policy: KeyPolicy = {
    ...NO_POLICY,
    displayName: `${displayName} ${library.name}`,
    scopes: [scope],
    boundGatewayId: gatewayId ?? "",
    allowedModels: [model],
  };
  const key = keyId === undefined ? undefined : await lockKey(tx, keyId);
  if (key !== undefined && key.state !== "revoked") {
    const { boundGatewayId, allowedModels } = key.policy;
    if (boundGatewayId !== policy.boundGatewayId || allowedModels?.[0] !== model) {
      const latest = Math.max(generation, key.generation);
      await updateKeyPolicy(tx, { keyId: key.id, policy, generation: latest, expiresAfter: null });
    }
    return key.id;
  }
  if (key?.revocation != null && FINAL.has(key.revocation.reason)) return undefined;
  const id = newId("key");
  const { cluster, namespace, teamId } = library;
  const name = `${purpose}-${library.name}`;
  // No declaration of a key owns it: it can be revoked by hand, and nothing else.
  const managedBy = `MemoryLibrary ${namespace}/${library.name}`;
  await reserveVersion(tx, {
    key: { id, cluster, namespace, name, ownerUid: null, teamId, source: "Generate", generation, managedBy },
    ...{ policy, number: 1, ...mint(), expiresAfter: null, rotationTrigger: null },
  });
  await activateVersion(tx, { keyId: id, number: 1, overlapMs: 0 });
  return id;
}
