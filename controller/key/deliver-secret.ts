import type { SecretObject } from "../cluster/port.ts";
import type { KeyDeps } from "./key-deps.ts";
import type { KeyObservation } from "./key-observation.ts";
import { draftSecret } from "./key-secret.ts";
import { rememberWrite } from "./observe-secret.ts";

/**
 * Writes the whole Secret that delivers a version: replaces the Secret that was read, or creates a new one if none was.
 * Of an immutable Secret, or while the key's gateway is missing, it changes the owner alone.
 *
 * @returns the Secret of the cluster's answer; undefined if the key is not stored
 * @throws ClusterError: `Unclear` if the Secret may have been written
 */
export async function deliverSecret(
  deps: KeyDeps,
  observation: KeyObservation,
  plaintext: string,
  number: number,
): Promise<SecretObject | undefined> {
  const { object, observed, rows, stored, secret } = observation;
  if (stored === undefined) return undefined;
  const wanted = draftSecret(observation, plaintext, { keyId: stored.id, number });
  const isKept = secret !== undefined && (secret.immutable || observed.references.gatewayId === "");
  const draft = isKept ? { ...secret, owner: wanted.owner } : wanted;
  // The outcome may stay unknown: the remembered Secret is dropped first.
  deps.keyMemory.delivered.set(object.uid, null);
  const written =
    secret === undefined ? await deps.cluster.createSecret(draft) : await deps.cluster.replaceSecret(secret, draft);
  rememberWrite(deps, { ...observation, stored }, { draft, before: secret, written }, number, rows.now);
  return written;
}

/** True if a text stands anywhere in a Secret: something else may have changed what was written. */
export function holdsText({ data }: SecretObject, text: string): boolean {
  return Object.values(data).some((value) => value.includes(text));
}
