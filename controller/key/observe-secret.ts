/**
 * Observation of a key's Secret: from the last answer, as long as the watch has reported nothing newer; else by reading
 * it. The watch alone may keep a key at rest. Only a read decides that a Secret is lost or was edited.
 */
import { isDeepStrictEqual } from "node:util";
import type { ObservedSecret } from "../../domain/key/observed/observed-key.ts";
import { keyDigest } from "../../domain/key/secret/key-format.ts";
import { findKeyOfDigest } from "../../store/keys/rows/find-key.ts";
import type { LoadedKey } from "../../store/keys/rows/key-rows.ts";
import type { KeySecret } from "../../store/keys/rows/key-secrets.ts";
import type { SecretObject } from "../cluster/port.ts";
import { readIfAllowed } from "../cluster/secret-reading.ts";
import type { KeyDeps } from "./key-deps.ts";
import type { Delivered } from "./key-memory.ts";
import {
  alteredWrite,
  deliveredAs,
  mayBeUnowned,
  observeDelivered,
  observedSecret,
  type SecretContext,
  type SecretWrite,
} from "./key-secret.ts";

export type SecretObservation = {
  readonly observed: ObservedSecret;
  /**
   * Secret as it was read, for writes under its uid and resourceVersion; undefined if it was not read, or is not there.
   */
  readonly secret: SecretObject | undefined;
  readonly isRead: boolean;
};

/** Observes a key's Secret, without a request if that is enough. */
export async function observeSecret(deps: KeyDeps, context: SecretContext): Promise<SecretObservation> {
  const observed = recallSecret(deps, context);
  return observed === undefined ? readSecretOf(deps, context) : { observed, secret: undefined, isRead: false };
}

function recallSecret(deps: KeyDeps, context: SecretContext): ObservedSecret | undefined {
  const { object, declared, stored } = context;
  const known = knownSecret(deps, object.uid, stored);
  if (known === null) return undefined;
  const heard = deps.cluster.cachedSecretVersion(object.namespace, declared.secret.name);
  if (heard === null && known === undefined && !object.deleting && isUnpublished(deps, object.uid, stored)) {
    // Creating it decides: if there is one all the same, the creation fails, and the Secret is read.
    return { state: "absent" };
  }
  if (heard === undefined || heard === null || known?.resourceVersion !== heard) return undefined;
  return observeDelivered(known, context);
}

/**
 * Returns what this process last saw of the Secret, or else what an earlier process recorded; null if it must be read.
 */
function knownSecret({ keyMemory }: KeyDeps, uid: string, stored: LoadedKey | undefined): Delivered | null | undefined {
  const seen = keyMemory.delivered.get(uid);
  if (seen !== undefined) return seen;
  const found = stored?.secretFound;
  const version = found && stored.versions.find(({ number }) => number === found.number);
  return version ? { ...found, digest: version.digest } : undefined;
}

/** Returns what a later process should know of a key's Secret; undefined if that is recorded, or there is nothing. */
export function secretToRecord(
  { cluster, keyMemory }: KeyDeps,
  { object: { namespace, uid }, declared, stored }: SecretContext,
): KeySecret | undefined {
  const seen = keyMemory.delivered.get(uid);
  const version = stored?.versions.find(({ digest }) => digest === seen?.digest);
  if (!seen || version === undefined || cluster.cachedSecretVersion(namespace, declared.secret.name) === undefined) {
    return undefined;
  }
  const { resourceVersion, content, marks } = seen;
  const found = { resourceVersion, number: version.number, content, marks };
  return isDeepStrictEqual(found, stored?.secretFound) ? undefined : found;
}

/**
 * True if no secret of this key can be in any Secret: the key has none, or its first one has never left this process.
 */
function isUnpublished({ keyMemory }: KeyDeps, uid: string, stored: LoadedKey | undefined): boolean {
  if (stored === undefined) return true;
  const [first, ...others] = stored.versions;
  return (
    stored.lastNumber === 1 &&
    others.length === 0 &&
    first !== undefined &&
    first.digest === keyMemory.held.get(uid)?.digest
  );
}

/** Reads a key's Secret. */
export async function readSecretOf(deps: KeyDeps, context: SecretContext): Promise<SecretObservation> {
  const { object, declared } = context;
  const read = await readIfAllowed(deps.cluster, object.namespace, declared.secret.name);
  if ("why" in read) {
    deps.keyMemory.delivered.set(object.uid, null);
    return { observed: { state: "unreadable", why: read.why }, secret: undefined, isRead: true };
  }
  const { secret } = read;
  const isWritten = secret !== undefined && deps.keyMemory.altered.get(object.uid)?.secretUid === secret.uid;
  const isOurs = isWritten || (await isMintedForThisName(deps, secret, context));
  const observed = observedSecret(secret, isOurs, context);
  rememberSecret(deps, context, secret, observed);
  return { observed, secret, isRead: true };
}

/** Remembers a Secret as the cluster has answered with it. */
export function rememberSecret(
  { keyMemory }: KeyDeps,
  context: SecretContext,
  secret: SecretObject | undefined,
  observed: ObservedSecret = observedSecret(secret, false, context),
): void {
  const delivered = secret && deliveredAs(secret, observed, context);
  keyMemory.delivered.set(context.object.uid, delivered ?? null);
}

/**
 * Remembers a Secret as the cluster has answered a write of it.
 *
 * @param version the number of the version that was written
 * @param writtenAt milliseconds since the epoch, by the database's clock
 */
export function rememberWrite(
  deps: KeyDeps,
  context: SecretContext & { readonly stored: LoadedKey },
  write: SecretWrite,
  version: number,
  writtenAt: number,
): void {
  const { uid } = context.object;
  const altered = alteredWrite(context, write, version, writtenAt);
  if (altered === undefined) deps.keyMemory.altered.delete(uid);
  else deps.keyMemory.altered.set(uid, altered);
  rememberSecret(deps, context, write.written);
}

/**
 * True if a Secret without an owner reference holds a secret that was minted for a key of this name, whatever else was
 * stripped from it. A Secret that a former declaration released belongs to no declaration: it delivers a key that lives on.
 */
async function isMintedForThisName(
  { cluster, store }: KeyDeps,
  secret: SecretObject | undefined,
  { object: { uid, namespace, name }, declared }: SecretContext,
): Promise<boolean> {
  const value = secret?.data[declared.secret.dataKey];
  if (secret === undefined || !mayBeUnowned(secret) || value === undefined) return false;
  const key = await findKeyOfDigest(store.db, keyDigest(value));
  if (key === undefined || (key.ownerUid !== uid && key.state !== "revoked")) return false;
  return key.cluster === cluster.uid && key.namespace === namespace && key.name === name;
}
